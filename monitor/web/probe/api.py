"""API routes of probes: each probe's newest figures, the runs, one with its items, and the golden sets."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from pydantic import BeforeValidator, Field

from monitor.app.probe.before import compared_runs, run_before
from monitor.app.wiring.application import Application
from monitor.privacy.masking import redact
from monitor.probe.golden import MOST_ITEMS
from monitor.probe.result import ItemState
from monitor.store.interaction.filters import parsed_tag
from monitor.store.probe.items import ItemFilter
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Forbidden, Needs
from monitor.web.base.parameters import Id, LargeLimit, Text, parameter_error, parse_integer
from monitor.web.base.problem import NOT_FOUND, problems
from monitor.web.probe.api_model import (
    Figures,
    GoldenList,
    ProbeList,
    RunDetail,
    RunList,
    Summary,
    comparison_model,
    golden_model,
    item_model,
    run_model,
)

router = APIRouter(tags=["probes"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]
_EVER = datetime(1970, 1, 1, tzinfo=UTC)
_PAGE = 20


@router.get(
    "/probes",
    response_model=ProbeList,
    operation_id="listProbes",
    responses=problems(),
    summary="List the probes with their newest figures",
)
def probes(request: Request, _: Viewer) -> ProbeList:
    """Returns the newest run that is done of each probe, app and environment, in this order."""
    application: Application = request.app.state.application
    newest = application.probing.runs.newest(per_probe=1, since=_EVER)
    return ProbeList(items=[Summary(run=run_model(run), figures=Figures.of(its)) for run, its in newest])


@router.get(
    "/probes/runs",
    response_model=RunList,
    operation_id="listProbeRuns",
    responses=problems(),
    summary="List the runs of probes",
)
def runs(
    request: Request,
    _: Viewer,
    *,
    probe: Annotated[Text | None, Query(description="Only runs of this probe.")] = None,
    app: Annotated[Text | None, Query(description="Only runs about this app.")] = None,
    before: Annotated[Id | None, Query(description="`next` of the page before.")] = None,
    limit: LargeLimit = _PAGE,
) -> RunList:
    """Returns runs in whatever state, the newest first, with the figures of the items that are through."""
    store = request.app.state.application.probing.runs
    listed = store.runs(probe=probe, app=app, before=before, most=limit + 1)
    known = store.figures([one.number for one in listed[:limit]])
    return RunList(
        items=[Summary(run=run_model(one), figures=Figures.of(known[one.number])) for one in listed[:limit]],
        next=listed[limit - 1].number if len(listed) > limit else None,
    )


@router.get(
    "/probes/runs/{number}",
    response_model=RunDetail,
    operation_id="getProbeRun",
    responses=problems(NOT_FOUND),
    summary="Get a run of a probe with its conversations",
)
def run(
    request: Request,
    who: Viewer,
    number: Annotated[Id, Path()],
    *,
    state: Annotated[ItemState | None, Query(description="Only items in this state.")] = None,
    score: Annotated[
        Annotated[int, Field(ge=0, le=5), BeforeValidator(parse_integer)] | None,
        Query(description="Only items whose first answer has this score, rounded; 0: it is not sure."),
    ] = None,
    tag: Annotated[
        Text | None, Query(description="`NAME=VALUE`: only items with this tag.", json_schema_extra={"format": "tag"})
    ] = None,
    start: Annotated[
        int,
        Field(ge=0, le=MOST_ITEMS),
        BeforeValidator(parse_integer),
        Query(description="`next` of the page before, under the same filters."),
    ] = 0,
    limit: LargeLimit = _PAGE,
) -> RunDetail:
    """Returns figures, the comparison with the run before, and a page of the items; personal data is masked."""
    application: Application = request.app.state.application
    probing = application.probing
    found = probing.runs.run(number)
    if found is None:
        raise HTTPException(NOT_FOUND, "no such run is stored")
    wanted = ItemFilter(state=state, score=score, tag=None if tag is None else _tag(tag, who))
    page = probing.runs.page(found, wanted, start=start, most=limit)
    end = start + limit
    before = run_before(probing.runs, found)
    compared = None if before is None else compared_runs(probing.runs, probing.golden, before, found)
    return RunDetail(
        run=run_model(found),
        figures=Figures.of(probing.runs.figures([number])[number]),
        before=None if before is None else before.number,
        comparison=None if compared is None else comparison_model(compared),
        items=[item_model(place, one) for place, one in page.items],
        total=page.total,
        next=end if end < page.total else None,
    )


@router.get(
    "/golden",
    response_model=GoldenList,
    operation_id="listGoldenSets",
    responses=problems(),
    summary="List the golden sets",
)
def golden(request: Request, _: Viewer) -> GoldenList:
    """Returns the newest version of each set, by name; `items` is the number of its questions."""
    application: Application = request.app.state.application
    return GoldenList(items=list(map(golden_model, application.probing.golden.every())))


def _tag(typed: str, who: Identity) -> tuple[str, str]:
    """The name and value of a tag; nobody finds out by guessing what is masked for them."""
    try:
        found = parsed_tag(typed)
    except ValueError:
        raise parameter_error("tag", "is not NAME=VALUE") from None
    if not who.may(Permission.UNMASK) and redact(typed) != typed:
        raise Forbidden(f"the role {who.role} sees personal data masked only, and cannot search for it")
    return found
