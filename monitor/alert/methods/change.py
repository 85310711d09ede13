"""Fires when a rate or an amount is higher than at the same hours of previous weeks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from typing_extensions import override

from monitor.alert.figures import amount
from monitor.alert.methods.amounts import compare_amounts
from monitor.alert.methods.method import (
    Memory,
    Method,
    WrongParameter,
    require_chance,
    require_least,
    require_weeks,
    require_window,
)
from monitor.alert.methods.proportion_change import Comparison, compare
from monitor.alert.signal import AMOUNTS, Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Observation, Outcome, Span, bounds, measured, window_at

LEAST_WEEKS = 2
LEAST_PART = 0.05  # of the usual amount; a smaller rise is below what the histogram of latencies can tell
_WEEK = timedelta(days=7)
_SMALLEST = 1e-6  # smaller chances are told as this one
_AROUND = (-1, 0, 1)  # in a past week: the window before, the same window, the window after


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Method):
    """Breaching when the signal over `window` is higher than at the same hours of the last `weeks` weeks.

    The rise must be at least `at_least` (of a share: 0.02 is 2 percentage points; of a latency, tokens or cost: 0.2 is
    a fifth of the usual), and chance alone must produce it in a share of looks below `alpha`. Each past week
    contributes the same window and its two neighbours: three times as many windows show far better how much the signal
    varies by itself. A past week counts if its three windows have `min_samples` answers.
    """

    name: ClassVar[str] = "change"
    takes: ClassVar[frozenset[SignalKind]] = AMOUNTS | {SignalKind.RATE, SignalKind.UNSCORED, SignalKind.DEAD_LETTERS}

    window: timedelta = timedelta(hours=1)
    weeks: int = 4
    alpha: float = 0.001
    at_least: float = 0.02
    min_samples: int = 30

    def __post_init__(self) -> None:
        require_window("window", self.window)
        require_weeks(self.weeks, LEAST_WEEKS)
        require_chance("alpha", self.alpha)
        if not 0 <= self.at_least <= 1:
            raise WrongParameter("at_least", "must be between 0 and 1: 0.02 is 2 percentage points")
        require_least("min_samples", self.min_samples, 1)

    @property
    @override
    def target(self) -> Target:
        """The smallest rise that matters; the usual rate comes from the counts."""
        return Target(value=self.at_least)

    @property
    @override
    def promise(self) -> str:
        return f"the same hours of earlier weeks: chance alone fires in less than {self.alpha:g} of independent looks"

    @override
    def check(self, signal: Signal) -> None:
        """A share rises by percentage points, an amount by a part of the usual one, which has to be set."""
        if signal.is_share:
            if self.at_least >= 1:
                raise WrongParameter("at_least", "must be between 0 and 1: 0.02 is 2 percentage points")
        elif self.at_least < LEAST_PART:
            raise WrongParameter("at_least", f"must be {LEAST_PART:g} or more for {signal.kind}: 0.2 is a fifth more")

    @override
    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:
        """The window, then for each past week the window before, the same window and the window after."""
        window = window_at(now, self.window, lateness)
        past = (window.back(week * _WEEK - i * self.window) for week in range(1, self.weeks + 1) for i in _AROUND)
        return window, *past

    @override
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """`bound` is the smallest rise; the observation's `bound` is the usual level plus that rise."""
        current, *past = counts.counts
        weeks = [past[i : i + len(_AROUND)] for i in range(0, len(past), len(_AROUND))]
        enough = [week for week in weeks if sum(count.total for count in week) >= self.min_samples]
        found = None
        if current.total >= self.min_samples and len(enough) >= LEAST_WEEKS:
            past = [count for week in enough for count in week]
            found = compare(current, past) if signal.is_share else compare_amounts(signal, current, past)
        lower, upper = bounds(signal, current)
        observation = Observation(
            labels=counts.labels,
            outcome=self._outcome(current, found, bound),
            value=measured(signal, current),
            samples=current.total,
            lower=lower,
            upper=upper,
            bound=_line(signal, found, bound),
            detail=f"only {len(enough)} of the last {self.weeks} weeks, too few, have enough answers at these hours"
            if found is None
            else f"{amount(found.usual, signal.unit)} at the same hours of earlier weeks; {_rarely(found.chance)}",
        )
        return observation, memory

    def _outcome(self, current: Count, found: Comparison | None, at_least: float) -> Outcome:
        if not current.total:
            return Outcome.NO_DATA
        if found is None:
            return Outcome.UNSURE
        if found.rise < at_least or found.rise <= 0:
            return Outcome.NORMAL
        return Outcome.BREACHING if found.chance < self.alpha else Outcome.UNSURE


def _line(signal: Signal, found: Comparison | None, at_least: float) -> float:
    """The usual level and the smallest rise; if that is unknown, 1 for a share, 0 for an amount."""
    if signal.is_share:
        return 1.0 if found is None else min(found.usual + at_least, 1.0)
    return 0.0 if found is None else found.usual * (1 + at_least)


def _rarely(chance: float) -> str:
    """How rarely chance alone explains the rate, in words."""
    one_in = min(1 / max(chance, _SMALLEST), 1 / _SMALLEST)
    return f"chance alone would show this in one look of {float(f'{one_in:.1g}'):,.0f}"
