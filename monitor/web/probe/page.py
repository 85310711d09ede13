"""The pages of probes: each with its newest figures and their course, the runs, and a run with its conversations."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from fastapi.responses import HTMLResponse

from monitor.alert.probed import says_enough
from monitor.app.probe.before import compared_runs, run_before
from monitor.app.wiring.application import Application
from monitor.core.assessment_json import storable
from monitor.privacy.masking import redact
from monitor.probe.golden import MOST_ITEMS
from monitor.probe.result import RunState
from monitor.store.probe.rows import GONE
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import page
from monitor.web.base.parameters import MAX_ID
from monitor.web.probe.filters import SCORE_WORDS, STATE_WORDS, ItemQuery, parse_items
from monitor.web.probe.view import (
    OUTCOMES,
    SHOWN_RUNS,
    named_figures,
    probe_views,
    shown,
)

router = APIRouter()
PAGE = 20  # runs of a page
ITEMS = 50  # of a page of a run
_COURSE = timedelta(days=92)
_MOVED = 10  # questions shown that fell
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
Parameter = Annotated[str, Query(max_length=1_000)]
Number = Annotated[int, Path(ge=1, le=MAX_ID)]


@router.get("/probes")
def probes(
    request: Request,
    who: Viewer,
    *,
    probe: Parameter = "",
    app: Parameter = "",
    before: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
) -> HTMLResponse:
    """Lists the runs, newest first; their first page has each probe's newest figures, too."""
    application: Application = request.app.state.application
    runs = application.probing.runs
    listed = runs.runs(probe=probe or None, app=app or None, before=before, most=PAGE + 1)
    filters = {name: value for name, value in (("probe", probe), ("app", app)) if value}
    newest = f"/probes?{urlencode(filters, errors='replace')}" if filters else "/probes"
    last = listed[PAGE - 1] if len(listed) > PAGE else None
    first = before is None
    since = application.now() - _COURSE
    views = probe_views(runs.newest(per_probe=SHOWN_RUNS, since=since, app=app or None)) if first else []
    known = runs.figures([run.number for run in listed[:PAGE]])
    return page(
        request,
        "probe/probes.html",
        who,
        probe=probe,
        app=app,
        views=[its for its in views if probe in {"", its.run.probe}],
        named_figures=named_figures,
        runs=[(run, known[run.number]) for run in listed[:PAGE]],
        RunState=RunState,
        says_enough=says_enough,
        newest=None if first else newest,
        older=None if last is None else f"/probes?{urlencode({**filters, 'before': last.number}, errors='replace')}",
    )


@router.get("/probes/{number}")
def run(
    request: Request,
    who: Viewer,
    number: Number,
    *,
    state: Parameter = "",
    score: Parameter = "",
    tag: Parameter = "",
    start: Annotated[int, Query(alias="from", ge=0, le=MOST_ITEMS)] = 0,
) -> HTMLResponse:
    """Shows a run: figures, the comparison with the run before, and a page of its items, worst first."""
    application: Application = request.app.state.application
    probing = application.probing
    found = probing.runs.run(number)
    if found is None:
        raise HTTPException(404, "There is no run with this number.")
    tags = [its for its in probing.runs.tags(found) if redact(its) == its]  # a masked value would find nothing
    query = parse_items(
        state=storable(state),
        score=storable(score),
        tag=storable(tag),
        tags=tags,
        unmask=who.may(Permission.UNMASK),
    )
    items = probing.runs.page(found, query.wanted, start=start, most=ITEMS)
    before = run_before(probing.runs, found)
    comparison = None if before is None else compared_runs(probing.runs, probing.golden, before, found)
    fell = [] if comparison is None else [its for its in comparison.moved if its.by < 0][:_MOVED]
    counted = probing.runs.figures([number])[number]
    return page(
        request,
        "probe/run.html",
        who,
        run=found,
        RunState=RunState,
        says_enough=says_enough,
        figures=named_figures(counted, found),
        counts=counted.states,
        judged=counted.unsure.count,
        states=STATE_WORDS,
        score_words=SCORE_WORDS,
        tags=tags,
        query=query,
        before=before,
        compared=comparison,
        fell=fell,
        asked=probing.runs.questions(found, [its.item for its in fell]) if fell else {},
        gone=GONE,
        outcomes=OUTCOMES,
        items=items,
        start=start,
        earlier=_items_path(number, query, max(start - ITEMS, 0)) if start else None,
        later=_items_path(number, query, start + ITEMS) if start + ITEMS < items.total else None,
        shown=shown,
    )


def _items_path(number: int, query: ItemQuery, start: int) -> str:
    fields = {**query.fields, **({"from": start} if start else {})}
    return f"/probes/{number}{'?' if fields else ''}{urlencode(fields)}#items"
