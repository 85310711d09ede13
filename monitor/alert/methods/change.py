"""Fires when the rate is higher than at the same hours of previous weeks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import atan, cos, pi, sin, sqrt
from typing import ClassVar, NamedTuple

from typing_extensions import override

from monitor.alert.methods.method import Memory, Method, WrongParameter, require_chance, require_least, require_window
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Observation, Outcome, Span, interval, window_at
from monitor.core.proportions import Share, greater
from monitor.core.text.plain import percent

LEAST_WEEKS = 2
_WEEK = timedelta(days=7)
_SMALLEST = 1e-6  # smaller chances are told as this one
_AROUND = (-1, 0, 1)  # in a past week: the window before, the same window, the window after


class Comparison(NamedTuple):
    """The usual rate, by how much the current rate exceeds it, and the chance of such an excess or a larger one."""

    usual: float
    rise: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Method):
    """Breaching when the rate over `window` is higher than at the same hours of the last `weeks` weeks.

    The rise must be at least `at_least` (a share: 0.02 is 2 percentage points), and chance alone must produce it in a
    share of looks below `alpha`. Each past week contributes the same window and its two neighbours: three times as
    many windows show far better how much rates vary by themselves. A past week counts if its three windows have
    `min_samples` answers.
    """

    name: ClassVar[str] = "change"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.RATE, SignalKind.UNSCORED, SignalKind.DEAD_LETTERS})

    window: timedelta = timedelta(hours=1)
    weeks: int = 4
    alpha: float = 0.001
    at_least: float = 0.02
    min_samples: int = 30

    def __post_init__(self) -> None:
        require_window("window", self.window)
        require_least("weeks", self.weeks, LEAST_WEEKS)
        require_chance("alpha", self.alpha)
        if not 0 <= self.at_least < 1:
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
    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:
        """The window, then for each past week the window before, the same window and the window after."""
        window = window_at(now, self.window, lateness)
        past = (window.back(week * _WEEK - i * self.window) for week in range(1, self.weeks + 1) for i in _AROUND)
        return window, *past

    @override
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """`bound` is the smallest rise; the observation's `bound` is the usual rate plus that rise."""
        current, *past = counts.counts
        weeks = [past[i : i + len(_AROUND)] for i in range(0, len(past), len(_AROUND))]
        enough = [week for week in weeks if sum(count.total for count in week) >= self.min_samples]
        found = None
        if current.total >= self.min_samples and len(enough) >= LEAST_WEEKS:
            found = compare(current, [count for week in enough for count in week])
        lower, upper = interval(current, share=True)
        observation = Observation(
            labels=counts.labels,
            outcome=self._outcome(current, found, bound),
            value=current.mean,
            samples=current.total,
            lower=lower,
            upper=upper,
            bound=1.0 if found is None else min(found.usual + bound, 1.0),
            detail=f"only {len(enough)} of the last {self.weeks} weeks, too few, have enough answers at these hours"
            if found is None
            else f"{percent(found.usual)} at the same hours of earlier weeks; {_rarely(found.chance)}",
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


def _rarely(chance: float) -> str:
    """How rarely chance alone explains the rate, in words."""
    one_in = min(1 / max(chance, _SMALLEST), 1 / _SMALLEST)
    return f"chance alone would show this in one look of {float(f'{one_in:.1g}'):,.0f}"


def compare(current: Count, past: Sequence[Count]) -> Comparison:
    """A one-sided quasi-binomial two-proportion test; `current` has answers, and so do at least two counts of `past`.

    The chance is the larger one of this test and Fisher's exact test against the whole past. With few bad answers the
    former, an approximation, is too confident; the latter ignores how much past windows vary by themselves.

    With p the rate of the m past counts and p̄ the rate of all counts, the overdispersion of the past counts is
    φ = max(1, Σ (kᵢ − p·nᵢ)² / (nᵢ·p·(1 − p)) / (m − 1)), and t = (p̂ − p) / √(φ·p̄·(1 − p̄)·(1/n + 1/N)) is compared
    with Student's t with m − 1 degrees of freedom. Source: P. McCullagh and J. A. Nelder, Generalized Linear
    Models, 2nd edition, 1989, §4.5.
    """
    counts = [count for count in past if count.total]
    total = sum(count.total for count in counts)
    usual = sum(count.sum for count in counts) / total
    rate = current.sum / current.total
    pooled = (usual * total + current.sum) / (total + current.total)
    if not 0 < pooled < 1:
        return Comparison(usual, rate - usual, 0.5)
    spread = usual * (1 - usual)
    squares = sum((count.sum - usual * count.total) ** 2 / count.total for count in counts)
    freedom = len(counts) - 1
    overdispersion = max(1.0, squares / spread / freedom) if spread else 1.0
    error = sqrt(overdispersion * pooled * (1 - pooled) * (1 / current.total + 1 / total))
    exact = greater(
        Share(matching=round(current.sum), total=current.total),
        Share(matching=round(usual * total), total=total),
    )
    return Comparison(usual, rate - usual, max(exact, student_tail((rate - usual) / error, freedom)))


def student_tail(t: float, freedom: int) -> float:
    """P(T > t) for Student's t with a whole number of degrees of freedom, by the finite series.

    Source: M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 1964, 26.7.3 and 26.7.4.
    """
    theta = atan(abs(t) / sqrt(freedom))
    odd = freedom % 2
    term = cos(theta) if odd else 1.0
    series = 0.0
    for i in range(1 + odd, freedom, 2):
        series += term
        term *= i / (i + 1) * cos(theta) ** 2
    within = 2 / pi * (theta + sin(theta) * series) if odd else sin(theta) * series
    return (1 - within) / 2 if t >= 0 else (1 + within) / 2
