"""The API route of the overview: rates by verdict, in total and by app, environment and model."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from monitor.app.wiring.application import Application
from monitor.core.diagnosis import Diagnosis
from monitor.core.figures.usage import P50, P95, AnswerUsage
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Verdict
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_WORDS
from monitor.privacy.masking import redact
from monitor.store.interaction.turns.unscored_counts import UnscoredShare, unscored_shares
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse, rounded
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Text
from monitor.web.base.problem import problems
from monitor.web.interaction.overview_figures import (
    MAX_GROUPS,
    SPANS,
    DiagnosisCounts,
    GroupCounts,
    answers_by_app,
    counted_diagnoses,
    counted_topics,
    group_counts,
)
from monitor.web.interaction.usage_figures import UsageChange, counted_usage

router = APIRouter(tags=["overview"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]


class Rate(ApiResponse):
    """The number of answers with a verdict, and their share with its 95 % Wilson interval; null without answers."""

    answers: int
    share: float | None
    lower: float | None
    upper: float | None


class Rates(ApiResponse):
    """The rates of a group of answers. Negative answers are refusals and self-generated ones."""

    answers: int
    grounded: Rate
    refusal: Rate
    self_generated: Rate
    negative: Rate


CHANGES = ("negative", "refusal", "self_generated")
NOTHING = GroupCounts(key=(), now=Verdicts(), before=Verdicts())
_CHANGE = "worse, better or no clear change of these shares; null if the span before cannot be compared"


class OverviewGroup(ApiResponse):
    """The rates of one app, environment and model, now and in the span before."""

    app: str
    environment: str
    model: str = Field(description="empty when the events name no model")
    now: Rates
    before: Rates
    change: dict[str, str | None] = Field(description=_CHANGE)


class OverviewTopic(ApiResponse):
    """The rates of one topic, now and in the span before; `other` sums up the topics that are not listed."""

    topic: str = Field(description="empty for answers without a topic")
    now: Rates
    before: Rates
    change: dict[str, str | None] = Field(description=_CHANGE)


class OverviewUnscored(ApiResponse):
    """The turns of an app that cannot be scored for one reason, and what to do about it."""

    app: str
    reason: str
    turns: int
    share: float = Field(description="of all turns of the app, those with a verdict included")
    words: str
    advice: str


class Used(ApiResponse):
    """What the answers of an app used in a span. A figure is null if no event tells it."""

    answers: int
    latency_answers: int = Field(description="how many of them tell their latency")
    latency_p50: float | None = Field(description="seconds, with an error of at most 5 %; so is p95")
    latency_p95: float | None
    input_tokens: float | None = Field(description="mean of an answer; so is output_tokens")
    output_tokens: float | None
    cost: float = Field(description="sum of the answers with a price, in the currency")
    cost_per_answer: float | None = Field(description="mean of the answers with a price")
    unpriced: int = Field(description="answers without a price")


class OverviewUsage(ApiResponse):
    """Latency, tokens and cost of an app, now and in the span before."""

    app: str
    now: Used
    before: Used


class OverviewDiagnoses(ApiResponse):
    """The diagnosed answers of an app, now and in the span before: how many have each diagnosis."""

    app: str
    now: dict[str, int] = Field(description="by diagnosis, 0 included; what earlier releases stored has none")
    before: dict[str, int]


class Overview(ApiResponse):
    """The rates of [start, end), and of the span of the same length before it."""

    start: datetime
    end: datetime
    now: Rates
    before: Rates
    change: dict[str, str | None] = Field(description=_CHANGE)
    groups: list[OverviewGroup] = Field(description="largest first, at most 60")
    topics: list[OverviewTopic] | None = Field(
        description="the 12 with the most negative answers first; empty without topics, null if they take too long"
    )
    usage: list[OverviewUsage] | None = Field(
        description="apps whose events tell latency or tokens, the most expensive first, at most 60; "
        "null if it takes too long"
    )
    diagnoses: list[OverviewDiagnoses] | None = Field(
        description="apps with diagnosed answers, the busiest first, at most 60; null if it takes too long"
    )
    currency: str = Field(description="of the prices; empty without prices")
    unscored: list[OverviewUnscored] = Field(description="turns that cannot be scored, by app and reason")


@router.get(
    "/overview",
    response_model=Overview,
    operation_id="getOverview",
    responses=problems(),
    summary="Get the rates by verdict",
)
def overview(
    request: Request,
    _: Viewer,
    span: Annotated[Literal["1h", "24h", "7d", "28d"], Query(description="The span up to now.")] = "24h",
    app: Annotated[Text | None, Query()] = None,
) -> Overview:
    """Counts the same rollups that alerts are evaluated on."""
    application: Application = request.app.state.application
    chosen = SPANS[span]
    now = application.now()
    start, end = chosen.until(now)
    drawn_from, drawn_to = chosen.drawn(now)
    store = application.overview
    cells = store.cells(drawn_from - chosen.length, drawn_to, chosen.bin, now=now, app=app)
    counted = store.groups(start, drawn_to, now=now, app=app)
    counted_before = store.groups(start - chosen.length, start, now=now, app=app)
    whole = next(iter(group_counts(counted, counted_before, cells, drawn_from, lambda _: ())), NOTHING)
    found = group_counts(counted, counted_before, cells, drawn_from, lambda name: name)
    topics = counted_topics(store, chosen, now, app, whole)
    scored = answers_by_app(counted)
    used = counted_usage(store, chosen, now, app)
    diagnosed = counted_diagnoses(store, chosen, now, app)
    return Overview(
        start=start,
        end=end,
        now=_rates(whole.now),
        before=_rates(whole.before),
        change=_changes(whole),
        groups=[
            OverviewGroup(
                app=group.key[0],
                environment=redact(group.key[1]),
                model=redact(group.key[2]),
                now=_rates(group.now),
                before=_rates(group.before),
                change=_changes(group),
            )
            for group in found[:MAX_GROUPS]
        ],
        topics=None if topics is None else [_topic(group) for group in topics],
        usage=None if used is None else [_usage(change) for change in used[:MAX_GROUPS]],
        diagnoses=None if diagnosed is None else [_diagnoses(counts) for counts in diagnosed[:MAX_GROUPS]],
        currency=request.app.state.currency,
        unscored=[_unscored(its) for its in unscored_shares(application.engine, start, drawn_to, scored, app=app)],
    )


def _unscored(its: UnscoredShare) -> OverviewUnscored:
    return OverviewUnscored(
        app=its.app,
        reason=its.reason,
        turns=its.turns,
        share=round(its.share, 6),
        words=UNSCORED_WORDS[its.reason],
        advice=UNSCORED_ADVICE[its.reason],
    )


def _topic(group: GroupCounts) -> OverviewTopic:
    return OverviewTopic(
        topic=redact(group.key[0]), now=_rates(group.now), before=_rates(group.before), change=_changes(group)
    )


def _diagnoses(counts: DiagnosisCounts) -> OverviewDiagnoses:
    now, before = ({each.value: some[each] for each in Diagnosis} for some in (counts.now, counts.before))
    return OverviewDiagnoses(app=counts.app, now=now, before=before)


def _usage(change: UsageChange) -> OverviewUsage:
    return OverviewUsage(app=change.app, now=_used(change.now), before=_used(change.before))


def _used(used: AnswerUsage) -> Used:
    return Used(
        answers=used.answers,
        latency_answers=used.latency.answers,
        latency_p50=rounded(used.latency_at(P50)),
        latency_p95=rounded(used.latency_at(P95)),
        input_tokens=rounded(used.input_tokens.mean),
        output_tokens=rounded(used.output_tokens.mean),
        cost=used.cost.sum,
        cost_per_answer=used.cost.mean,
        unpriced=used.unpriced,
    )


def _changes(group: GroupCounts) -> dict[str, str | None]:
    changes = {name: group.change(name) for name in CHANGES}
    return {name: None if change is None else change.verdict for name, change in changes.items()}


def _rates(counts: Verdicts) -> Rates:
    return Rates(answers=counts.total, **{name: _rate(counts, name) for name in (*Verdict, "negative")})


def _rate(counts: Verdicts, name: str) -> Rate:
    lower, upper = counts.interval(name) or (None, None)
    return Rate(
        answers=getattr(counts, name), share=rounded(counts.share(name)), lower=rounded(lower), upper=rounded(upper)
    )
