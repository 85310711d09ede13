"""The API route that exports interactions as CSV or JSON lines, written while they are sent."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import StreamingResponse

from monitor.app.wiring.application import Application
from monitor.store.interaction.filters import Filters
from monitor.store.interaction.listing.list import InteractionList
from monitor.web.base.access import Identity, Permission
from monitor.web.base.disclosure import record_export
from monitor.web.base.guard import Needs
from monitor.web.base.problem import problems
from monitor.web.interaction.api_filters import read_filters
from monitor.web.interaction.exact import permitted
from monitor.web.interaction.export import MAX_ROWS, as_csv, as_json_lines

router = APIRouter(tags=["interactions"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
_CSV, _LINES = "text/csv", "application/jsonl"
_FILE = {
    "description": f"Up to {MAX_ROWS:,} interactions; if the list ends early, the last line says why.",
    "content": {kind: {"schema": {"type": "string"}} for kind in (_CSV, _LINES)},
}


@router.get(
    "/interactions/export",
    response_class=StreamingResponse,
    operation_id="exportInteractions",
    responses={**problems(), 200: _FILE},
    summary="Export interactions as CSV or JSON lines",
)
def export(
    request: Request,
    who: Viewer,
    filters: Annotated[Filters, Depends(read_filters)],
    format_: Annotated[Literal["jsonl", "csv"], Query(alias="format")] = "jsonl",
) -> StreamingResponse:
    """Sends whole texts, newest first, with personal data masked for every role. The audit trail records the export."""
    application: Application = request.app.state.application
    rows = InteractionList(application.engine).every(permitted(request, who, filters), MAX_ROWS)
    first = next(rows, None)  # an error before the first row becomes a problem, not a line
    record_export(request, who, app=filters.app, form=format_)
    found = chain(() if first is None else (first,), rows)
    if format_ == "csv":
        return StreamingResponse(as_csv(found), media_type=_CSV)
    return StreamingResponse(as_json_lines(found), media_type=_LINES)
