"""The figures of latency, tokens and cost on the overview, and how they changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from monitor.core.figures.usage import P50, P95, AnswerUsage
from monitor.store.database import TakesTooLong
from monitor.store.interaction.overview import OverviewStore
from monitor.web.interaction.overview_figures import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageChange:
    """What the answers of an app used, now and in the span before; figures are None where no event tells them."""

    app: str
    now: AnswerUsage
    before: AnswerUsage

    @property
    def p50(self) -> float | None:
        """Seconds within which half of the answers come."""
        return self.now.latency_at(P50)

    @property
    def p95(self) -> float | None:
        """Seconds within which 95 % of the answers come."""
        return self.now.latency_at(P95)

    @property
    def p95_change(self) -> float | None:
        """By which part it grew; -0.1 is a tenth less."""
        return _grown(self.p95, self.before.latency_at(P95))

    @property
    def tokens_change(self) -> float | None:
        return _grown(self.now.tokens.mean, self.before.tokens.mean)

    @property
    def cost_change(self) -> float | None:
        """Of the mean cost of an answer: the sum follows the traffic."""
        return _grown(self.now.cost.mean, self.before.cost.mean)


def counted_usage(store: OverviewStore, span: Span, now: datetime, app: str | None) -> list[UsageChange] | None:
    """What answers used in the span up to `now` against the span before; None if counting takes too long.

    The rest of the overview is worth showing without it.
    """
    start, _ = span.until(now)
    _, end = span.drawn(now)
    try:
        here = store.usage(start, end, now=now, app=app)
        before = store.usage(start - span.length, start, now=now, app=app)
    except TakesTooLong:
        return None
    return usage_changes(here, before)


def usage_changes(now: Mapping[str, AnswerUsage], before: Mapping[str, AnswerUsage]) -> list[UsageChange]:
    """The apps whose events tell anything in the span, the most expensive first, then the busiest."""
    found = [
        UsageChange(app=app, now=used, before=before.get(app, AnswerUsage())) for app, used in now.items() if used.told
    ]
    return sorted(found, key=lambda one: (-one.now.cost.sum, -one.now.answers, one.app))


def _grown(now: float | None, before: float | None) -> float | None:
    return None if now is None or not before else now / before - 1
