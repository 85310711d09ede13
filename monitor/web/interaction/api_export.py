"""Interactions as a file: CSV or JSON lines, made while it is sent."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from monitor.app.wiring.application import Application
from monitor.store.interaction.filters import Filters
from monitor.store.interaction.list import InteractionList
from monitor.web.base.access import Identity, Permission
from monitor.web.base.disclosure import record_export
from monitor.web.base.guard import Needs
from monitor.web.base.problem import problems
from monitor.web.interaction.api import asked
from monitor.web.interaction.export import MOST, as_csv, as_json_lines

router = APIRouter(tags=["interactions"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
_CSV, _LINES = "text/csv", "application/jsonl"
_FILE = {
    "description": f"Up to {MOST:,} interactions; where it had to end before, the last line says why.",
    "content": {kind: {"schema": {"type": "string"}} for kind in (_CSV, _LINES)},
}


@router.get(
    "/interactions/export", response_class=StreamingResponse, operation_id="exportInteractions",
    responses={**problems(), 200: _FILE}, summary="Interactions as CSV or JSON lines",
)  # fmt: skip
def export(
    request: Request,
    who: Viewer,
    filters: Annotated[Filters, Depends(asked)],
    format: Annotated[Literal["jsonl", "csv"], Query()] = "jsonl",  # noqa: A002  its name in the address
) -> StreamingResponse:
    """Newest first, whole texts; personal data is masked, for everybody. The audit trail has that it was taken."""
    application: Application = request.app.state.application
    rows = InteractionList(application.engine).every(filters, MOST)
    first = next(rows, None)  # what is wrong from the beginning is a problem, not a line
    record_export(request, who, app=filters.app, form=format)
    found = chain(() if first is None else (first,), rows)
    if format == "csv":
        return StreamingResponse(as_csv(found), media_type=_CSV)
    return StreamingResponse(as_json_lines(found), media_type=_LINES)
