"""Interactions: the list, filtered, a page at a time; and the same as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import chain
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from monitor.app.wiring.application import Application
from monitor.assess.explain import REASON_WORDS
from monitor.privacy.masking import redact
from monitor.store.database import TakesTooLong
from monitor.store.interaction.filters import InteractionPage, ListedInteraction
from monitor.store.interaction.list import READ, InteractionList
from monitor.web.base.access import Identity, Permission
from monitor.web.base.cursor import from_cursor, to_cursor
from monitor.web.base.disclosure import record_export
from monitor.web.base.guard import Needs
from monitor.web.base.page import page
from monitor.web.interaction import filters as forms
from monitor.web.interaction.export import MOST, as_csv, as_json_lines
from monitor.web.interaction.filters import Asked, asked
from monitor.web.interaction.overview_figures import SPANS

router = APIRouter()
_FORMS: Mapping[str, tuple[Callable[[Iterable[ListedInteraction]], Iterator[str]], str]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "jsonl": (as_json_lines, "application/jsonl"),
}
_ALWAYS_SHOWN = {"words", "span", "verdict", "app"}


@router.get("/interactions")
def interactions(request: Request, who: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> HTMLResponse:
    """The page. `older` and `newer` are cursors."""
    application: Application = request.app.state.application
    its = asked(request.query_params.multi_items(), application.now())
    older, newer = (request.query_params.get(name) for name in ("older", "newer"))
    older_than = from_cursor(older) if older else None
    newer_than = from_cursor(newer) if newer and not older else None
    listing, too_long = InteractionPage(rows=(), older=None, newer=None), ""
    try:
        listing = InteractionList(application.engine).page(its.filters, older_than=older_than, newer_than=newer_than)
    except TakesTooLong as error:
        too_long = str(error)
    return page(
        request,
        "interaction/interactions.html",
        who,
        status=HTTPStatus.SERVICE_UNAVAILABLE if too_long else HTTPStatus.OK,
        asked=its,
        listing=listing,
        number=len(listing.rows),
        len=len,
        too_long=too_long,
        paged=bool(older or newer),
        more=not {*its.fields} <= _ALWAYS_SHOWN,
        older=_on(its, "older", listing),
        newer=_on(its, "newer", listing),
        labels={
            name: [value for value in values if redact(value) == value]  # masked, it would find nothing
            for name, values in application.overview.labels("app", "environment", "model", "topic").items()
        },
        forms=forms,
        spans=SPANS,
        reasons=REASON_WORDS,
        read=READ,
        most=MOST,
    )


@router.get("/interactions.{form}")
def export(request: Request, form: str, who: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> StreamingResponse:
    """All that match, up to `MOST`, masked for everybody, once that is queued for the audit trail.

    What is wrong from the beginning is said as a page.
    """
    if form not in _FORMS:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no list as {form}: take csv or jsonl")
    application: Application = request.app.state.application
    its = asked(request.query_params.multi_items(), application.now())
    rows = InteractionList(application.engine).every(its.filters, MOST)
    first = next(rows, None)
    record_export(request, who, app=its.filters.app, form=form)
    lines, media = _FORMS[form]
    found = lines(() if first is None else chain([first], rows))
    name = f"interactions-{its.filters.until:%Y%m%dT%H%MZ}.{form}"
    return StreamingResponse(found, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _on(its: Asked, direction: str, listing: InteractionPage) -> Mapping[str, str] | None:
    """The query of the next page that way."""
    place = listing.older if direction == "older" else listing.newer
    return None if place is None else {**its.fields, direction: to_cursor(place)}
