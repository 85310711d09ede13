"""Fires when no answers arrive although history says that there should be some."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import exp
from typing import ClassVar

from typing_extensions import override

from monitor.alert.methods.method import Memory, Method, require_chance, require_least, require_weeks, require_window
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Observation, Outcome, Span, window_at

BEFORE = timedelta(hours=3)  # the hours before the window show how today's traffic compares with the usual traffic
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence(Method):
    """Breaching when nothing came in `window` though at least `expected` answers were expected.

    Two forecasts must both reach `expected`: the average of the same window in the last `weeks` weeks, and today's
    three hours before the window, scaled by the past ratio of window to those hours. The Poisson probability of no
    answer at all must then be below `alpha`. When too few answers are expected, the alert neither fires nor resolves.
    """

    name: ClassVar[str] = "absence"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.NO_DATA})

    window: timedelta = timedelta(minutes=15)
    weeks: int = 2
    expected: int = 20
    alpha: float = 0.001

    def __post_init__(self) -> None:
        require_window("window", self.window)
        require_weeks(self.weeks, 1)
        require_least("expected", self.expected, 1)
        require_chance("alpha", self.alpha)

    @property
    @override
    def target(self) -> Target:
        return Target(value=float(self.expected))

    @property
    @override
    def promise(self) -> str:
        return f"the traffic of earlier weeks and of today: chance alone fires in less than {self.alpha:g} of looks"

    @override
    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:
        """The window and the hours before it, this week and in each past week."""
        window = window_at(now, self.window, lateness)
        before = Span(start=window.start - BEFORE, end=window.start)
        return tuple(span.back(week * _WEEK) for week in range(self.weeks + 1) for span in (window, before))

    @override
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """`value` is the number of answers, `bound` the expected number. Leaves the memory as it is."""
        came = counts.counts[0].total
        expected = _forecast(counts.counts)
        if came:
            outcome = Outcome.NORMAL
        elif expected >= bound and exp(-expected) < self.alpha:
            outcome = Outcome.BREACHING
        else:
            outcome = Outcome.UNSURE
        observation = Observation(
            labels=counts.labels,
            outcome=outcome,
            value=float(came),
            samples=came,
            lower=float(came),
            upper=float(came),
            bound=expected,
        )
        return observation, memory


def _forecast(counts: tuple[Count, ...]) -> float:
    """The expected number of answers: the lower of the two forecasts, by past weeks and by the hours before.

    `counts` alternate between window and hours before, this week first.
    """
    today_before = counts[1].total
    past, past_before = counts[2::2], counts[3::2]
    in_window = sum(count.total for count in past)
    in_hours = sum(count.total for count in past_before)
    if not in_hours:
        return 0.0
    return min(in_window / len(past), today_before * in_window / in_hours)
