"""Overview: how the answers are now, by verdict, app and model, and whether anything is on fire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from monitor.app.wiring.application import Application
from monitor.report.charts.rates import answers_chart, rates_chart
from monitor.store.alert.list import AlertBoard
from monitor.store.interaction.overview import Cell
from monitor.store.ledger.ledger import Ledger, source_of
from monitor.store.ledger.progress import ReadingStore
from monitor.store.pending.queue import Pending
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import page
from monitor.web.interaction.overview_figures import SPANS, USUAL, Group, Span, groups, points, told

router = APIRouter()
_ALERTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """How reading of a topic or file goes: seconds behind, whether its ledger adds up."""

    name: str
    lag: float | None
    received: int
    unbalanced: int


@router.get("/")
def overview(
    request: Request,
    who: Annotated[Identity, Depends(Needs(Permission.VIEW))],
    span: Annotated[str, Query(max_length=10)] = USUAL,
    app: Annotated[str, Query(max_length=1_000)] = "",
) -> HTMLResponse:
    """The page; a span that there is not is the usual one."""
    application: Application = request.app.state.application
    span = span if span in SPANS else USUAL
    chosen, now = SPANS[span], application.now()
    start, end = chosen.around(now)
    store = application.overview
    cells = store.cells(start - chosen.length, end, chosen.bin, now=now, app=app or None)
    here = [cell for cell in cells if cell.at >= start]
    labels = store.labels("app")
    whole = next(iter(groups(cells, start, lambda _: ())), None)
    return page(
        request,
        "interaction/overview.html",
        who,
        span=span,
        spans=SPANS,
        app=app,
        apps=labels["app"],
        start=start,
        whole=whole,
        by_app=groups(cells, start, lambda cell: (cell.app, cell.model)),
        by_environment=_several(groups(cells, start, lambda cell: (cell.environment,))),
        charts=_charts(here, chosen, start=told(start), end=told(end)) if here else (),
        alerts=AlertBoard(application.engine).active(now, most=_ALERTS),
        sources=sources(application),
        pending=Pending(application.engine).counts(now),
        sealed=store.sealed(),
    )


def sources(application: Application) -> list[Source]:
    """Every source that was ever read, by name."""
    reading = ReadingStore(application.engine)
    lags = {its.labels["source"]: its.counts[0].sum for its in reading.lags(application.now())}
    rows, _ = Ledger(application.engine).read()
    live = [row for row in rows if row.live]
    names = sorted({*lags, *(source_of(row.topic) for row in live)})
    of = {name: [row for row in live if source_of(row.topic) == name] for name in names}
    return [
        Source(
            name=name,
            lag=lags.get(name),
            received=sum(row.counts["received"] for row in of[name]),
            unbalanced=sum(not row.balanced for row in of[name]),
        )
        for name in names
    ]


def _several(found: Sequence[Group]) -> Sequence[Group]:
    """One alone says what the whole says already."""
    return found if len(found) > 1 else ()


def _charts(cells: Sequence[Cell], span: Span, *, start: str, end: str) -> Sequence[tuple[str, Markup]]:
    """Each with its caption. The SVG is drawn by us from numbers and our own words."""
    shares, answers = points(cells, span.bin)
    about: dict[str, Any] = {"start": start, "end": end, "days": span.days}
    return [
        (
            "Share of refusals and of self-generated answers; the bars behind are Wilson intervals at 95 %.",
            Markup(rates_chart(shares, description=f"Verdicts of the last {span.name}", **about)),  # noqa: S704
        ),
        (
            "Answers that were assessed.",
            Markup(  # noqa: S704
                answers_chart(
                    answers, description=f"Answers of the last {span.name}", bins=span.length // span.bin, **about
                )
            ),
        ),
    ]
