"""The API route of true rates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field

from monitor.app.wiring.application import Application
from monitor.review.rates.period import Period
from monitor.review.rates.presentation import rates_json
from monitor.store.review.rates import SPAN, known_rates
from monitor.web.base.access import Identity, Permission
from monitor.web.base.api_model import ApiResponse
from monitor.web.base.guard import Needs
from monitor.web.base.parameters import Moment, Text
from monitor.web.base.problem import problems

router = APIRouter(tags=["labels"])


class Thumbs(ApiResponse):
    """What end users said of answers of the period: no sample, and no part of any rate."""

    up: int
    down: int


class TrueRate(ApiResponse):
    """The flagged share and the true rate of one class of answers of an app in a period; null where it is not known."""

    app: str
    from_: datetime = Field(alias="from")
    to: datetime
    class_: Literal["self_generated", "refusal", "negative"] = Field(alias="class")
    answers: int
    flagged: float | None
    estimate: float | None
    lower: float | None = Field(description="of the interval at 95 %")
    upper: float | None
    labels: int = Field(description="answers of the plan with a label")
    divided: int = Field(description="labelled answers on which people are divided")
    judged: int = Field(description="answers of which the judge has spoken, where the plan uses it")
    method: Literal["strata", "judge", "random"] | None
    seed: str | None
    plan: int | None
    items: int = Field(description="answers that were drawn")
    feedback: Thumbs


@router.get(
    "/rates",
    response_model=list[TrueRate],
    operation_id="getRates",
    responses=problems(),
    summary="Get the true rates",
)
def rates(
    request: Request,
    _: Annotated[Identity, Depends(Needs(Permission.VIEW))],
    app: Annotated[Text | None, Query()] = None,
    start: Annotated[Moment | None, Query(alias="from")] = None,
    end: Annotated[Moment | None, Query(alias="to")] = None,
) -> list[dict[str, Any]]:
    """Returns three lines for each app, from labels of answers that were drawn for exactly that period.

    Without a period: that of the app's newest plan, or the last seven days. Seconds are dropped; `to` alone means the
    seven days before it, `from` alone what has been since.
    """
    application: Application = request.app.state.application
    now, period = application.now(), None
    if start is not None or end is not None:
        until = _minute(now if end is None else end)
        first = datetime.min.replace(tzinfo=UTC)
        since = _minute(max(until, first + SPAN) - SPAN if start is None else start)
        if since >= until:
            return []
        period = Period(since=since, until=until)
    found = known_rates(application.engine, application.overview, app, period, now)
    return [line for known in found for line in rates_json(known)]


def _minute(at: datetime) -> datetime:
    return at.replace(second=0, microsecond=0)
