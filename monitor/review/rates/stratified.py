"""The interval of a rate from labels drawn at random within strata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from monitor.core.figures.proportions import CONFIDENCE

_HALVINGS = 60  # of the interval that holds a bound: far below the precision of a float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """`positive` of `labels` drawn at random from `answers`; neither need be whole, as a disputed label is a half."""

    answers: int
    labels: float
    positive: float

    @property
    def effective(self) -> float:
        """Labels that tell as much where answers are without number: n / (1 − n/N), infinite if all are labelled."""
        rest = self.answers - self.labels
        return self.labels * self.answers / rest if rest > 0 else float("inf")

    @property
    def asymmetry(self) -> float:
        """What is left of the skewness of a draw with replacement: (1 − 2f)/(1 − f), f = n/N; N must exceed n."""
        return (self.answers - 2 * self.labels) / (self.answers - self.labels)


def estimate(strata: Sequence[Stratum]) -> float | None:
    """θ̂ = Σ W_h·x_h/n_h, W_h the stratum's share of all answers; None while a stratum has no label."""
    filled = [s for s in strata if s.answers]
    if not filled or any(s.labels == 0 for s in filled):
        return None
    return sum(s.answers * s.positive / s.labels for s in filled) / sum(s.answers for s in filled)


def interval(strata: Sequence[Stratum], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The rates θ that the labels do not contradict.

    The lower bound is the smallest θ with θ̂ − θ ≤ (z + (z² − 1)/6 · max(γ, 0)) · √V, the upper one the largest with
    θ − θ̂ ≤ (z + (z² − 1)/6 · max(−γ, 0)) · √V, where

        V = Σ W_h²·p̃_h(1 − p̃_h)/n_h,  γ = V^(−3/2) · Σ W_h³·p̃_h(1 − p̃_h)(1 − 2p̃_h)/n_h².

    p̃ are the maximum-likelihood rates of the strata under Σ W_h·p̃_h = θ. With the multiplier μ of that constraint

        p̃_h = 2x_h / (n_h + μW_h + √((n_h + μW_h)² − 4μW_h·x_h)),

    and θ falls as μ rises, so the lower bound is found by bisection on μ, and the upper one as the lower bound of the
    other labels. n_h is `effective`: it allows for a stratum of which much is labelled. γ is the skewness of θ̂: where
    few labels are positive they scatter further up than down, so without it the lower bound, on which alarms rest,
    would be too high in 3 to 5 of 100 draws, not in 2.5. One large stratum with few positive labels gives Wilson's
    upper bound, and a lower one slightly below his. A stratum without labels may have any rate, and widens the interval
    by its whole weight; without any label it is (0, 1).

    Sources: score intervals in the manner of E. B. Wilson (1927) and of O. Miettinen and M. Nurminen, Comparative
    analysis of two rates, Statistics in Medicine 4 (1985), 213–226; the term with γ is the first of E. A. Cornish and
    R. A. Fisher, Moments and cumulants in the specification of distributions (1938).
    """
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    others = [Stratum(answers=s.answers, labels=s.labels, positive=s.labels - s.positive) for s in strata]
    lower = _lower(strata, z)
    return lower, max(1 - _lower(others, z), lower)  # rounding may part them where all is labelled


def _lower(strata: Sequence[Stratum], z: float) -> float:
    """The lower bound; where nothing is labelled, there might be no positive answer."""
    total = sum(s.answers for s in strata)
    fixed = (
        sum(s.answers * s.positive / s.labels for s in strata if s.labels == s.answers > 0) / total if total else 0.0
    )
    open_ = [(s, s.answers / total) for s in strata if 0 < s.labels < s.answers]
    estimated = fixed + sum(weight * s.positive / s.labels for s, weight in open_)

    def contradicted(mu: float) -> bool:
        rate, variance, third = fixed, 0.0, 0.0
        for s, weight in open_:
            p = _constrained(s, mu * weight)
            rate += weight * p
            variance += weight**2 * p * (1 - p) / s.effective
            third += weight**3 * p * (1 - p) * (1 - 2 * p) / s.effective**2 * s.asymmetry
        skewness = third / variance**1.5 if variance > 0 else 0.0
        return estimated - rate > (z + (z * z - 1) / 6 * max(skewness, 0.0)) * sqrt(variance)

    mu = _last_not(contradicted)
    return fixed + sum(weight * _constrained(s, mu * weight) for s, weight in open_)


def _constrained(stratum: Stratum, pull: float) -> float:
    """The rate p̃ of a stratum under the pull μ·W_h ≥ 0; see `interval`."""
    n = stratum.effective
    x = stratum.positive / stratum.labels * n
    sum_ = n + pull
    return min(2 * x / (sum_ + sqrt(max(sum_ * sum_ - 4 * pull * x, 0.0))), 1.0)


def _last_not(true_beyond: Callable[[float], bool]) -> float:
    """The largest size from 0 to 2⁶⁰ at which the condition does not hold yet; it holds from there on."""
    low, high = 0.0, 2.0**_HALVINGS
    while high > 1 and true_beyond(high / 2):
        high /= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if true_beyond(middle) else (middle, high)
    return low
