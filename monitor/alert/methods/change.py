"""This window against the same hours of previous weeks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import atan, cos, pi, sin, sqrt
from typing import ClassVar, NamedTuple

from monitor.alert.methods.method import Memory, WrongParameter, require_chance, require_least, require_window
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Observation, Outcome, Span, interval, window_at
from monitor.core.proportions import Share, greater

LEAST_WEEKS = 2
_WEEK = timedelta(days=7)
_AROUND = (-1, 0, 1)  # of a past week: the window before, the same, the one after


class Comparison(NamedTuple):
    """The usual rate, by how much the rate of now exceeds it, and the chance of that or more."""

    usual: float
    rise: float
    chance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Breaching when the rate over `window` is higher than in the same hours of the last `weeks` weeks.

    It takes a rise that chance would give in fewer than `alpha` looks, and of at least `at_least` (a share: 0.02 is 2
    percentage points). The past is each week's same window with its two neighbours: three times as many windows tell
    far better how much they differ by themselves. A past week counts when it has `min_samples` in them.
    """

    name: ClassVar[str] = "change"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.RATE, SignalKind.DEAD_LETTERS})

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
    def target(self) -> Target:
        """The smallest rise that matters; what it is a rise over is in the counts."""
        return Target(value=self.at_least)

    @property
    def fires_below(self) -> bool:
        """Never."""
        return False

    def check(self, signal: Signal) -> None:
        """Any share will do."""

    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:  # noqa: ARG002
        """The window, then of each past week the window before, the same and the one after."""
        window = window_at(now, self.window, lateness)
        past = (window.back(week * _WEEK - i * self.window) for week in range(1, self.weeks + 1) for i in _AROUND)
        return window, *past

    def observe(
        self,
        counts: Counts,
        *,
        signal: Signal,  # noqa: ARG002
        bound: float,
        memory: Memory | None,
        now: datetime,  # noqa: ARG002
    ) -> tuple[Observation, Memory | None]:
        """`bound` is the smallest rise that matters; the observation's is the line that it makes. Nothing is kept."""
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
            detail=f"{len(enough)} of {self.weeks} past weeks have enough answers to compare with"
            if found is None
            else f"usually {found.usual:.1%} at these hours; by chance in {found.chance:.2g} of looks",
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


def compare(current: Count, past: Sequence[Count]) -> Comparison:
    """A quasi-binomial two-proportion test, one-sided; `current` has answers, `past` at least two counts with some.

    The chance is the larger of this one and of Fisher's exact test against all of the past: with few bad answers the
    first, an approximation, promises too much, and the second knows nothing of how much the past differs by itself.

    With p the rate of the past m counts and p̄ that of all, the past counts' overdispersion is
    φ = max(1, Σ (kᵢ − p·nᵢ)² / (nᵢ·p·(1 − p)) / (m − 1)), and t = (p̂ − p) / √(φ·p̄·(1 − p̄)·(1/n + 1/N)) is held
    against Student's t with m − 1 degrees of freedom. Source: P. McCullagh and J. A. Nelder, Generalized Linear
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
    """P(T > t) of Student's t with a whole number of degrees of freedom, by the finite series.

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
