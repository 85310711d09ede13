"""The list of interactions, filtered and in pages, and its export as a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import chain
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from monitor.app.wiring.application import Application
from monitor.assess.reference import is_flagged, rank_words
from monitor.core.reason_words import REASON_WORDS, UNSCORED_ADVICE, UNSCORED_OF_ONE, diagnosis_name
from monitor.privacy.masking import redact
from monitor.store.database import TakesTooLong
from monitor.store.interaction.filters import Filters, InteractionPage, ListedInteraction
from monitor.store.interaction.listing.list import COUNTED, READ, InteractionList
from monitor.store.interaction.turns.unscored_counts import unscored_shares
from monitor.store.interaction.turns.unscored_list import UnscoredPage, unscored_page
from monitor.web.base.access import Identity, Permission
from monitor.web.base.cursor import from_cursor, to_cursor
from monitor.web.base.disclosure import record_export
from monitor.web.base.guard import Needs
from monitor.web.base.page import page
from monitor.web.interaction import filters as forms
from monitor.web.interaction.diagnosis.view import COLOURS
from monitor.web.interaction.exact import permitted
from monitor.web.interaction.export import MAX_ROWS, as_csv, as_json_lines
from monitor.web.interaction.filters import ListQuery, parse_query
from monitor.web.interaction.overview_figures import SPANS

router = APIRouter()
_FORMS: Mapping[str, tuple[Callable[[Iterable[ListedInteraction]], Iterator[str]], str]] = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "jsonl": (as_json_lines, "application/jsonl"),
}
_NO_FILE = "turns without scores have no verdict, and cannot be downloaded here; GET /api/v1/unscored lists them"
_ALWAYS_SHOWN = {"words", "span", "verdict", "suspicious", "app"}  # filters outside of "More filters"


@router.get("/interactions")
def interactions(request: Request, who: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> HTMLResponse:
    """Shows a page of the list; the parameters `older` and `newer` are cursors."""
    application: Application = request.app.state.application
    query = parse_query(request.query_params.multi_items(), application.now())
    older, newer = (request.query_params.get(name) for name in ("older", "newer"))
    older_than = from_cursor(older) if older else None
    newer_than = from_cursor(newer) if newer and not older else None
    listing, too_long = InteractionPage(rows=(), older=None, newer=None), ""
    turns, unscored = UnscoredPage(rows=(), older=None), 0
    filters = permitted(request, who, query.filters)
    try:
        if filters.unscored:
            turns = unscored_page(application.engine, filters, older_than=older_than)
        else:
            listing = InteractionList(application.engine).page(filters, older_than=older_than, newer_than=newer_than)
            unscored = 0 if older or newer else _unscored(application, query)
    except TakesTooLong as error:
        too_long = str(error)
    return page(
        request,
        "interaction/interactions.html",
        who,
        status=HTTPStatus.SERVICE_UNAVAILABLE if too_long else HTTPStatus.OK,
        query=query,
        listing=listing,
        number=len(listing.rows),
        turns=turns,
        unscored=unscored,
        older_turns=None if turns.older is None else {**query.fields, "older": to_cursor(turns.older)},
        unscored_words=UNSCORED_OF_ONE,
        unscored_advice=UNSCORED_ADVICE,
        total=_total(application, filters, listing, paged=bool(older or newer)),
        counted=COUNTED,
        unranked=sum(row.rank is None for row in listing.rows),
        is_flagged=is_flagged,
        rank_words=rank_words,
        len=len,
        too_long=too_long,
        paged=bool(older or newer),
        more=not {*query.fields} <= _ALWAYS_SHOWN,
        older=_next_page(query, "older", listing),
        newer=_next_page(query, "newer", listing),
        labels={
            name: [value for value in values if redact(value) == value]  # a masked value would find nothing
            for name, values in application.overview.labels("app", "environment", "model", "topic").items()
        },
        forms=forms,
        spans=SPANS,
        reasons=REASON_WORDS,
        diagnosis_name=diagnosis_name,
        diagnosis_colours=COLOURS,
        read=READ,
        most=MAX_ROWS,
    )


@router.get("/interactions.{form}")
def export(request: Request, form: str, who: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> StreamingResponse:
    """Sends up to `MAX_ROWS` rows, masked for everybody, after the export is queued for the audit trail.

    An error before the first row is shown as a page. A file cannot say which filter it ignores, so none is ignored.
    """
    if form not in _FORMS:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"there is no export as {form}: use csv or jsonl")
    application: Application = request.app.state.application
    query = parse_query(request.query_params.multi_items(), application.now())
    if query.filters.unscored:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, _NO_FILE)
    if query.faults:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, "; ".join(query.faults))
    rows = InteractionList(application.engine).every(permitted(request, who, query.filters), MAX_ROWS)
    first = next(rows, None)
    record_export(request, who, app=query.filters.app, form=form)
    lines, media = _FORMS[form]
    found = lines(() if first is None else chain([first], rows))
    name = f"interactions-{query.filters.until:%Y%m%dT%H%MZ}.{form}"
    return StreamingResponse(found, media_type=media, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def _unscored(application: Application, query: ListQuery) -> int:
    """How many turns of the span have no scores; 0 where a filter asks for what only answers with a verdict have."""
    filters = query.filters
    if query.fields.keys() - {"span", "app"}:
        return 0
    shares = unscored_shares(application.engine, filters.since, filters.until, {}, app=filters.app)
    return sum(its.turns for its in shares)


def _total(application: Application, filters: Filters, listing: InteractionPage, *, paged: bool) -> int | None:
    """How many answers match on all pages; None if that is not known."""
    if not paged and listing.older is None and listing.reached is None:
        return len(listing.rows)
    return InteractionList(application.engine).total(filters)


def _next_page(query: ListQuery, direction: str, listing: InteractionPage) -> Mapping[str, str] | None:
    """The query of the next page in that direction."""
    place = listing.older if direction == "older" else listing.newer
    return None if place is None else {**query.fields, direction: to_cursor(place)}
