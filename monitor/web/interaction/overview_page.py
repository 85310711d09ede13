"""The overview: shares of verdicts by app, model and environment, active alerts, and how consumption goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from monitor.alert.figures import capital
from monitor.app.wiring.application import Application
from monitor.core.diagnosis import Diagnosis
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_PAGE, UNSCORED_WORDS, diagnosis_name
from monitor.privacy.masking import redact
from monitor.report.charts.drawing import for_every_width
from monitor.report.charts.rates import WIDTH, TrueRate, answers_chart, rates_chart
from monitor.review.rates.estimate import CLASSES, Rate, rate
from monitor.review.rates.plan import Plan
from monitor.review.rates.presentation import interval
from monitor.store.alert.list import AlertBoard
from monitor.store.interaction.overview import MOST_LABELS, Cell
from monitor.store.interaction.turns.unscored_counts import unscored_shares
from monitor.store.ledger.ledger import Ledger, source_of
from monitor.store.ledger.progress import ReadingStore
from monitor.store.pending.queue import PendingQueue
from monitor.store.tables.interactions import OTHER
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs
from monitor.web.base.page import own_drawing, page
from monitor.web.interaction.overview_figures import (
    DEFAULT_SPAN,
    MAX_GROUPS,
    SPANS,
    GroupCounts,
    Span,
    answers_by_app,
    chart_points,
    chart_time,
    counted_diagnoses,
    counted_topics,
    group_counts,
    true_rates,
)
from monitor.web.interaction.usage_figures import counted_usage

router = APIRouter()
_ALERTS = 20
_SHOWN_SHARE = 0.01  # of an app's turns, from which the overview says that they cannot be scored
_SHOWN_REASONS = 5  # of all apps
_PROBED = timedelta(days=92)  # the age of a probe's newest run up to which it is shown
_PROBES = 50
_LEFT = timedelta(minutes=2)  # without news of a reader, after which it is said to be gone


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A topic, file or door: its lag in seconds, received messages, and partitions whose ledger does not balance."""

    name: str
    lag: float | None
    left_at: datetime | None  # when its last reader was last heard, if it is gone
    received: int
    unbalanced: int


@router.get("/")
def overview(
    request: Request,
    who: Annotated[Identity, Depends(Needs(Permission.VIEW))],
    span: Annotated[str, Query(max_length=10)] = DEFAULT_SPAN,
    app: Annotated[str, Query(max_length=1_000)] = "",
) -> HTMLResponse:
    """Shows the overview; an unknown span falls back to the default."""
    application: Application = request.app.state.application
    span = span if span in SPANS else DEFAULT_SPAN
    chosen, now = SPANS[span], application.now()
    start, end = chosen.until(now)
    drawn_from, drawn_to = chosen.drawn(now)
    store = application.overview
    cells = store.cells(drawn_from - chosen.length, drawn_to, chosen.bin, now=now, app=app or None)
    here = [cell for cell in cells if cell.at >= drawn_from]
    counted = store.groups(start, drawn_to, now=now, app=app or None)
    counted_before = store.groups(start - chosen.length, start, now=now, app=app or None)

    def groups(key: Callable[[tuple[str, ...]], tuple[str, ...]]) -> list[GroupCounts]:
        return group_counts(counted, counted_before, cells, drawn_from, key)

    scored = answers_by_app(counted)
    by_app = groups(lambda name: (name[0], name[2]))
    labels = store.labels("app")
    known = _labelled(application, app or (labels["app"][0] if len(labels["app"]) == 1 else ""), start, end)
    whole = next(iter(groups(lambda _: ())), None)
    shares = unscored_shares(application.engine, start, drawn_to, scored, app=app or None)
    unscored = sorted((its for its in shares if its.share >= _SHOWN_SHARE), key=lambda its: -its.turns)
    board = AlertBoard(application.engine)
    alerts = board.active(now, most=_ALERTS)
    probes = application.probing.runs.newest(per_probe=1, since=now - _PROBED, app=app or None)
    return page(
        request,
        "interaction/overview.html",
        who,
        span=span,
        spans=SPANS,
        app=app,
        apps=labels["app"],
        every_app=len(labels["app"]) < MOST_LABELS,
        start=start,
        whole=whole,
        by_app=by_app,
        of_one_model={app for app, models in Counter(group.key[0] for group in by_app).items() if models == 1},
        other=OTHER,
        leads=leads,
        most=MAX_GROUPS,
        len=len,
        unscored=unscored[:_SHOWN_REASONS],
        more_unscored=len(unscored[_SHOWN_REASONS:]),
        unscored_words=UNSCORED_WORDS,
        unscored_advice=UNSCORED_ADVICE,
        guide=UNSCORED_PAGE,
        by_topic=counted_topics(store, chosen, now, app or None, whole),
        diagnoses=counted_diagnoses(store, chosen, now, app or None),
        diagnosis_words={diagnosis: capital(diagnosis_name(diagnosis)) for diagnosis in Diagnosis},
        usage=counted_usage(store, chosen, now, app or None),
        currency=request.app.state.currency,
        by_environment=_if_several(groups(lambda name: (name[1],))),
        labelled=max(known, key=lambda one: one[1]["negative"].labels, default=None),
        interval=interval,
        charts=_charts(here, chosen, drawn_from, drawn_to, true_rates(known, drawn_from, drawn_to)) if here else (),
        mutings=request.app.state.rules.load().mutings(now),
        alerts=alerts,
        more_alerts=board.active_number() - len(alerts) if len(alerts) == _ALERTS else 0,
        sources=sources(application),
        pending=PendingQueue(application.engine).counts(now),
        sealed=store.sealed(),
        probes=probes[:_PROBES],
        more_probes=len(probes[_PROBES:]),
    )


def leads(filters: Mapping[str, str]) -> bool:
    """Whether the list with these filters holds the answers of a row.

    No list holds those that the rollups count as OTHER, or that name no model or topic; and a value that is masked must
    not stand in an address.
    """
    labels = [filters[name] for name in ("environment", "model", "topic") if name in filters]
    return OTHER not in (filters["app"], *labels) and all(value and redact(value) == value for value in labels)


def sources(application: Application) -> list[Source]:
    """All sources that were ever consumed, by name."""
    reading, now = ReadingStore(application.engine), application.now()
    lags = {lag.labels["source"]: lag.counts[0].sum for lag in reading.lags(now)}
    seen = reading.last_seen(now)
    rows, _ = Ledger(application.engine).read()
    live = [row for row in rows if row.live]
    names = sorted({*lags, *(source_of(row.topic) for row in live)})
    of = {name: [row for row in live if source_of(row.topic) == name] for name in names}
    return [
        Source(
            name=name,
            lag=lags.get(name),
            left_at=seen[name] if name in seen and seen[name] < now - _LEFT else None,
            received=sum(row.counts["received"] for row in of[name]),
            unbalanced=sum(not row.balanced for row in of[name]),
        )
        for name in names
    ]


def _if_several(groups: Sequence[GroupCounts]) -> Sequence[GroupCounts]:
    """The groups, unless there is only one, which would repeat the total."""
    return groups if len(groups) > 1 else ()


def _labelled(application: Application, app: str, start: datetime, end: datetime) -> list[tuple[Plan, dict[str, Rate]]]:
    """The app's plans with labels for periods that overlap [start, end), the latest first, with the rates by class."""
    if not app:
        return []
    plans = [(plan, application.plans.labels(plan)) for plan in application.plans.within(app, start, end)]
    return [(plan, {name: rate(plan, labels, name) for name in CLASSES}) for plan, labels in plans if labels]


def _charts(
    cells: Sequence[Cell], span: Span, start: datetime, end: datetime, known: tuple[TrueRate, ...]
) -> Sequence[tuple[str, Markup]]:
    """The charts as SVG, each with its caption."""
    shares, answers = chart_points(cells, span.bin)
    about: dict[str, Any] = {"start": chart_time(start), "end": chart_time(end), "days": span.days}
    shaded = " Shaded: the true rate of a period, as far as labels tell it." if known else ""
    return [
        (
            f"Shares flagged as refusals and as self-generated; the bars are 95 % Wilson intervals.{shaded}",
            _drawing(rates_chart, shares, description=f"Verdicts of the last {span.name}", true_rates=known, **about),
        ),
        (
            "Number of assessed answers.",
            _drawing(
                answers_chart,
                answers,
                description=f"Answers of the last {span.name}",
                bins=span.length // span.bin + 1,
                **about,
            ),
        ),
    ]


def _drawing(chart: Callable[..., str], *points: Any, **about: Any) -> Markup:
    return own_drawing(for_every_width(lambda width: chart(*points, width=width, **about), WIDTH))
