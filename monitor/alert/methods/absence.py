"""No answers where there should be some."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import exp
from typing import ClassVar

from monitor.alert.methods.method import Memory, require_chance, require_least, require_window
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Observation, Outcome, Span, window_at

BEFORE = timedelta(hours=3)  # the hours before the window say how much of the usual traffic there is today
_WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class Absence:
    """Breaching when nothing came in `window` though at least `expected` answers were to be expected.

    They are expected when both say so: the same window of the last `weeks` weeks, on average, and today's three hours
    before it, times what the window had of those hours in the past. By Poisson's law none of them then comes with a
    chance below `alpha`. A silence that is not expected to be broken neither fires nor resolves.
    """

    name: ClassVar[str] = "absence"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.NO_DATA})

    window: timedelta = timedelta(minutes=15)
    weeks: int = 2
    expected: int = 20
    alpha: float = 0.001

    def __post_init__(self) -> None:
        require_window("window", self.window)
        require_least("weeks", self.weeks, 1)
        require_least("expected", self.expected, 1)
        require_chance("alpha", self.alpha)

    @property
    def target(self) -> Target:
        """So many answers at least."""
        return Target(value=float(self.expected))

    @property
    def fires_below(self) -> bool:
        """Never."""
        return False

    def check(self, signal: Signal) -> None:
        """There is one signal only."""

    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:  # noqa: ARG002
        """The window and the hours before it, this week and in each of the weeks before."""
        window = window_at(now, self.window, lateness)
        before = Span(start=window.start - BEFORE, end=window.start)
        return tuple(span.back(week * _WEEK) for week in range(self.weeks + 1) for span in (window, before))

    def observe(
        self,
        counts: Counts,
        *,
        signal: Signal,  # noqa: ARG002
        bound: float,
        memory: Memory | None,
        now: datetime,  # noqa: ARG002
    ) -> tuple[Observation, Memory | None]:
        """`value` is the number of answers, `bound` the number that was to be expected. Nothing is remembered."""
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
            detail=f"about {expected:.0f} answers were to be expected",
        )
        return observation, memory


def _forecast(counts: tuple[Count, ...]) -> float:
    """How many answers were to be expected: the lesser of what past weeks and what the hours before say.

    `counts` alternate between window and hours before, this week first.
    """
    today_before = counts[1].total
    past, past_before = counts[2::2], counts[3::2]
    in_window = sum(count.total for count in past)
    in_hours = sum(count.total for count in past_before)
    if not in_hours:
        return 0.0
    return min(in_window / len(past), today_before * in_window / in_hours)
