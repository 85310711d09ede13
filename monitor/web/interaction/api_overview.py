"""How the answers are: rates by verdict, in all and by app, environment and model."""

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
from monitor.web.interaction.overview_figures import SPANS, groups, summed

router = APIRouter(tags=["overview"])
Viewer = Annotated[Identity, Depends(Needs(Permission.VIEW))]


class Rate(ApiResponse):
    """How many answers have a verdict, and their share with Wilson's interval at 95 %; null of nothing."""

    answers: int
    share: float | None
    lower: float | None
    upper: float | None


class Rates(ApiResponse):
    """Of one group of answers. Negative: refusals and self-generated ones."""

    answers: int
    grounded: Rate
    refusal: Rate
    self_generated: Rate
    negative: Rate


class Group(ApiResponse):
    """Answers of one app, environment and model, and those of the span before."""

    app: str
    environment: str
    model: str = Field(description="empty where the events named none")
    now: Rates
    before: Rates


class Overview(ApiResponse):
    """Rates of [start, end), and of as much time before it."""

    start: datetime
    end: datetime
    now: Rates
    before: Rates
    groups: list[Group] = Field(description="the largest first, at most 60")


@router.get(
    "/overview", response_model=Overview, operation_id="getOverview", responses=problems(),
    summary="Rates by verdict",
)  # fmt: skip
def overview(
    request: Request,
    _: Viewer,
    span: Annotated[Literal["1h", "24h", "7d", "28d"], Query(description="Up to now, in whole bins.")] = "24h",
    app: Annotated[Text | None, Query()] = None,
) -> Overview:
    """Counted from the rollups that alerts go by."""
    application: Application = request.app.state.application
    chosen = SPANS[span]
    now = application.now()
    start, end = chosen.around(now)
    cells = application.overview.cells(start - chosen.length, end, chosen.bin, now=now, app=app)
    found = groups(cells, start, _key)
    return Overview(
        start=start,
        end=end,
        now=_rates(summed(cell for cell in cells if cell.at >= start)),
        before=_rates(summed(cell for cell in cells if cell.at < start)),
        groups=[
            Group(
                app=group.key[0], environment=group.key[1], model=group.key[2], now=_rates(group.now),
                before=_rates(group.before),
            )
            for group in found
        ],
    )  # fmt: skip


def _key(cell: Cell) -> tuple[str, ...]:
    return cell.app, cell.environment, cell.model


def _rates(counts: Verdicts) -> Rates:
    return Rates(answers=counts.total, **{name: _rate(counts, name) for name in (*Verdict, "negative")})


def _rate(counts: Verdicts, name: str) -> Rate:
    lower, upper = counts.interval(name) or (None, None)
    return Rate(
        answers=getattr(counts, name), share=rounded(counts.share(name)), lower=rounded(lower), upper=rounded(upper)
    )  # fmt: skip
