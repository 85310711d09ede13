"""The interval of a rate from labels drawn at random within strata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from monitor.core.proportions import CONFIDENCE

_HALVINGS = 60  # of the interval that holds a bound: far below the precision of a float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """`positive` of `labels` drawn at random from `answers`; a label that people dispute may count as a half."""

    answers: int
    labels: int
    positive: float

    @property
    def effective(self) -> float:
        """Labels that tell as much where answers are without number: n / (1 − n/N), infinite if all are labelled."""
        rest = self.answers - self.labels
        return self.labels * self.answers / rest if rest > 0 else float("inf")


def estimate(strata: Sequence[Stratum]) -> float | None:
    """θ̂ = Σ W_h·x_h/n_h, W_h the stratum's share of all answers; None while a stratum has no label."""
    filled = [s for s in strata if s.answers]
    if not filled or any(s.labels == 0 for s in filled):
        return None
    return sum(s.answers * s.positive / s.labels for s in filled) / sum(s.answers for s in filled)


def interval(strata: Sequence[Stratum], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The rates θ that the labels do not contradict: {θ: (θ̂ − θ)² ≤ z²·Σ W_h²·p̃_h(1 − p̃_h)/n_h}.

    p̃ are the maximum-likelihood rates of the strata under Σ W_h·p̃_h = θ. With the multiplier μ of that constraint

        p̃_h = 2x_h / (n_h + μW_h + √((n_h + μW_h)² − 4μW_h·x_h)),

    and θ falls as μ rises, so each bound is found by bisection on μ. n_h is `effective`: it allows for a stratum of
    which much is labelled. One large stratum gives Wilson's interval. A stratum without labels may have any rate, and
    widens the interval by its whole weight; without any label it is (0, 1).

    In the manner of E. B. Wilson (1927) and of O. Miettinen and M. Nurminen, Comparative analysis of two rates,
    Statistics in Medicine 4 (1985), 213–226.
    """
    total = sum(s.answers for s in strata)
    if not total:
        return 0.0, 1.0
    unknown = sum(s.answers for s in strata if not s.labels) / total
    fixed = sum(s.answers * s.positive / s.labels for s in strata if s.labels == s.answers > 0) / total
    open_ = [s for s in strata if 0 < s.labels < s.answers]
    known = fixed + sum(s.answers * s.positive / s.labels for s in open_) / total
    z = NormalDist().inv_cdf((1 + confidence) / 2)

    def contradicted(mu: float) -> bool:
        rates = [_constrained(s, mu * s.answers / total) for s in open_]
        rate = fixed + sum(s.answers * p for s, p in zip(open_, rates, strict=True)) / total
        variance = sum((s.answers / total) ** 2 * p * (1 - p) / s.effective for s, p in zip(open_, rates, strict=True))
        return (known - rate) ** 2 > z * z * variance and rate != known

    def bound(sign: int) -> float:
        mu = sign * _last_not(lambda size: contradicted(sign * size))
        rates = [_constrained(s, mu * s.answers / total) for s in open_]
        return fixed + sum(s.answers * p for s, p in zip(open_, rates, strict=True)) / total

    if not open_:
        return known, known + unknown
    lower, upper = bound(1), bound(-1)
    return max(lower, 0.0), min(upper + unknown, 1.0)


def _constrained(stratum: Stratum, pull: float) -> float:
    """The rate p̃ of a stratum under the pull μ·W_h; see `interval`."""
    n = stratum.effective
    x = stratum.positive / stratum.labels * n
    sum_ = n + pull
    root = sqrt(max(sum_ * sum_ - 4 * pull * x, 0.0))
    if sum_ > 0:
        return min(2 * x / (sum_ + root), 1.0)
    return (sum_ - root) / (2 * pull)


def _last_not(true_beyond: Callable[[float], bool]) -> float:
    """The largest size from 0 to 2⁶⁰ at which the condition does not hold yet; it holds from there on."""
    low, high = 0.0, 2.0**_HALVINGS
    while high > 1 and true_beyond(high / 2):
        high /= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if true_beyond(middle) else (middle, high)
    return low
