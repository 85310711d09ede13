"""The API route of the overview: rates by verdict, in total and by app, environment and model."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from monitor.app.wiring.application import Application
from monitor.core.model import Verdict
from monitor.core.verdict_counts import Verdicts
from monitor.store.interaction.overview import Cell
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse, rounded
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Text
from monitor.web.base.problem import problems
from monitor.web.interaction.overview_figures import SPANS, GroupCounts, counted_topics, group_cells, total_counts

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


class OverviewGroup(ApiResponse):
    """The rates of one app, environment and model, now and in the span before."""

    app: str
    environment: str
    model: str = Field(description="empty when the events name no model")
    now: Rates
    before: Rates


class OverviewTopic(ApiResponse):
    """The rates of one topic, now and in the span before; `other` sums up the topics that are not listed."""

    topic: str = Field(description="empty for answers without a topic")
    now: Rates
    before: Rates


class Overview(ApiResponse):
    """The rates of [start, end), and of the span of the same length before it."""

    start: datetime
    end: datetime
    now: Rates
    before: Rates
    groups: list[OverviewGroup] = Field(description="largest first, at most 60")
    topics: list[OverviewTopic] | None = Field(
        description="the 12 with the most negative answers first; empty without topics, null if they take too long"
    )


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
    span: Annotated[Literal["1h", "24h", "7d", "28d"], Query(description="The span up to now, in whole bins.")] = "24h",
    app: Annotated[Text | None, Query()] = None,
) -> Overview:
    """Counts the same rollups that alerts are evaluated on."""
    application: Application = request.app.state.application
    chosen = SPANS[span]
    now = application.now()
    start, end = chosen.around(now)
    cells = application.overview.cells(start - chosen.length, end, chosen.bin, now=now, app=app)
    found = group_cells(cells, start, _key)
    topics = counted_topics(application.overview, chosen, now, app)
    return Overview(
        start=start,
        end=end,
        now=_rates(total_counts(cell for cell in cells if cell.at >= start)),
        before=_rates(total_counts(cell for cell in cells if cell.at < start)),
        groups=[
            OverviewGroup(
                app=group.key[0],
                environment=group.key[1],
                model=group.key[2],
                now=_rates(group.now),
                before=_rates(group.before),
            )
            for group in found
        ],
        topics=None if topics is None else [_topic(group) for group in topics],
    )


def _topic(group: GroupCounts) -> OverviewTopic:
    return OverviewTopic(topic=group.key[0], now=_rates(group.now), before=_rates(group.before))


def _key(cell: Cell) -> tuple[str, ...]:
    return cell.app, cell.environment, cell.model


def _rates(counts: Verdicts) -> Rates:
    return Rates(answers=counts.total, **{name: _rate(counts, name) for name in (*Verdict, "negative")})


def _rate(counts: Verdicts, name: str) -> Rate:
    lower, upper = counts.interval(name) or (None, None)
    return Rate(
        answers=getattr(counts, name), share=rounded(counts.share(name)), lower=rounded(lower), upper=rounded(upper)
    )
