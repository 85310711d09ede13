"""Compares rates: exact test, false discovery rate, decomposition of a rise, intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
_TABLED = 1 << 16
_MANY = 1_000  # from which the normal approximation is as good


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`matching` of `total` things."""

    matching: int
    total: int

    @property
    def rate(self) -> float:
        """0.0 if `total` is 0."""
        return self.matching / self.total if self.total else 0.0

    @property
    def variance(self) -> float:
        """Variance of the rate, with one success and one failure added (Agresti and Caffo, 2000)."""
        smooth = (self.matching + 1) / (self.total + 2)
        return smooth * (1 - smooth) / (self.total + 2)

    def __sub__(self, part: Share) -> Share:
        return Share(matching=self.matching - part.matching, total=self.total - part.total)


def greater(part: Share, rest: Share) -> float:
    """P value that the rate of `part` exceeds that of `rest` by chance: Fisher's exact two-proportion test, one-sided.

    P(X ≥ k), X hypergeometric: of all things, k of n are bad in `part` and K of N altogether. Holds its level at any
    counts, which the normal approximation does not for rare answers (R. A. Fisher, 1934). 1.0, not computed, where the
    rate of `part` is not higher.
    """
    if part.rate <= rest.rate or not rest.total:
        return 1.0
    return min(float(_hypergeometric(part, rest, part.matching).sum()), 1.0)


def greater_in_strata(strata: Iterable[tuple[Share, Share]]) -> float:
    """P value that rates of the first shares exceed those of the second within strata by chance: exact, one-sided.

    Given the totals of each stratum and equal rates within it, the number of bad things in the first shares is a sum of
    independent hypergeometric numbers; p is P(sum ≥ observed). So a mere change of the mix of strata is no rise. With
    one stratum it is `greater`. Source: M. Zelen, The analysis of several 2 × 2 contingency tables, Biometrika 58
    (1971), 129-137. 1.0 where there is nothing to compare.
    """
    ways, least, observed = np.ones(1), 0, 0
    for now, before in strata:
        first = max(0, now.matching + before.matching - before.total)
        ways = np.convolve(ways, _hypergeometric(now, before, first))
        least, observed = least + first, observed + now.matching
    return min(float(ways[observed - least :].sum()), 1.0)


def _hypergeometric(part: Share, rest: Share, first: int) -> Floats:
    """P(X = x) for x from `first` up to the largest possible number of bad things in `part`."""
    bad, size = part.matching + rest.matching, part.total + rest.total
    x = np.arange(first, min(part.total, bad) + 1)
    good = size - bad
    of = _log_factorial
    ways = of(bad) - of(x) - of(bad - x) + of(good) - of(part.total - x) - of(good - part.total + x)
    chances: Floats = np.exp(ways - (of(size) - of(part.total) - of(size - part.total)))
    return chances


def are_many(one: Share, other: Share) -> bool:
    """Whether things of each kind are expected `_MANY` times in each share, so that they are as good as normal."""
    whole = Share(matching=one.matching + other.matching, total=one.total + other.total)
    fewest = min(whole.matching, whole.total - whole.matching) * min(one.total, other.total)
    return fewest >= _MANY * max(whole.total, 1)


def two_sided(one: Share, other: Share) -> float:
    """Two-sided p value of the difference: twice the smaller of Fisher's one-sided p values, at most 1.

    Where each kind is expected `_MANY` times in each share: by the normal approximation with Yates's correction, which
    costs the same at any counts.
    """
    if not are_many(one, other):
        return min(1.0, 2 * min(greater(one, other), greater(other, one)))
    whole = Share(matching=one.matching + other.matching, total=one.total + other.total)
    error = sqrt(whole.rate * (1 - whole.rate) * (1 / one.total + 1 / other.total))
    apart = max(0.0, abs(one.rate - other.rate) - (1 / one.total + 1 / other.total) / 2)
    return 2 * NormalDist().cdf(-apart / error)


def adjusted(p: Sequence[float]) -> Floats:
    """The smallest false discovery rate at which each p value is a discovery.

    qᵢ = min over j ≥ i of p₍ⱼ₎ · m / j, at most 1.

    Source: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, Journal of the Royal Statistical Society
    B 57 (1995), 289-300.
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    steps = values[order] * len(values) / np.arange(1, len(values) + 1)
    q = np.empty(len(values))
    q[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return q


def z(difference: float, *variances: float) -> float:
    """The difference of two rates in standard errors, given their variances."""
    return difference / sqrt(sum(variances))


def split_rise(now: Sequence[Share], before: Sequence[Share]) -> tuple[float, float, float]:
    """The rise of the whole rate by (new groups, changed rates within groups, changed mix); they add up to it.

    `now` and `before` hold one `Share` per group, in the same order. A group without counts before is new: it raises
    the rate by its share times its excess over the other groups' rate. The rest follows E. Kitagawa, Components of a
    difference between two rates, Journal of the American Statistical Association 50 (1955), 1168-1194:
    within = Σ s̄ Δr, mix = Σ r̄ Δs, with the means of share and rate over both times; a group that is gone keeps its old
    rate.
    """
    n, k = (
        np.array([[getattr(s, name) for s in side] for side in (now, before)], float) for name in ("total", "matching")
    )
    old = n[1] > 0
    totals, kept = n.sum(axis=1), n[:, old].sum(axis=1)
    if not totals.all():
        return 0.0, 0.0, 0.0
    if not kept[0]:
        return float(k[0].sum() / totals[0] - k[1].sum() / totals[1]), 0.0, 0.0
    new = k[0].sum() / totals[0] - k[0, old].sum() / kept[0]
    shares = n[:, old] / kept[:, None]
    rates = np.divide(k[:, old], n[:, old], out=np.zeros((2, int(old.sum()))), where=n[:, old] > 0)
    rates[0] = np.where(n[0, old] > 0, rates[0], rates[1])
    within = (shares.mean(axis=0) * (rates[0] - rates[1])).sum()
    mix = (rates.mean(axis=0) * (shares[0] - shares[1])).sum()
    return float(new), float(within), float(mix)


def _log_factorial(n: ArrayLike) -> Floats:
    """Logarithms of n!: from a table, and beyond it by Stirling's series, so that many answers take no memory.

    Source of the series: M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 1964, 6.1.41.
    """
    whole = np.asarray(n)
    large = np.maximum(whole, _TABLED).astype(np.float64)
    series = (large + 0.5) * np.log(large) - large + 0.5 * log(2 * pi) + 1 / (12 * large)
    found: Floats = np.where(whole < _TABLED, _log_factorials()[np.minimum(whole, _TABLED - 1)], series)
    return found


@lru_cache(maxsize=1)
def _log_factorials() -> Floats:
    """Logarithms of n! for all n below `_TABLED`."""
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, _TABLED)))))


CONFIDENCE = 0.95


def wilson(matching: float, total: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Score interval of the rate k/n at `confidence`: (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n), p = k/n.

    (0, 1) without any sample. `total` may be the number of a simple random sample that would tell as much. Source: E.
    B. Wilson, Probable inference, the law of succession, and statistical inference, Journal of the American Statistical
    Association 22 (1927), 209–212.
    """
    if total == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = matching / total
    centre = rate + z * z / (2 * total)
    margin = z * sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    # at 0 and n the bound is exact; rounding would miss it slightly
    lower = 0.0 if matching == 0 else (centre - margin) / scale
    upper = 1.0 if matching == total else (centre + margin) / scale
    return lower, upper


def clopper_pearson(matching: int, total: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Interval of the rate k/n that holds the true one with at least `confidence`, whatever it is.

    The lower bound is the p with P(X ≥ k) = (1 − confidence)/2, the upper one that with P(X ≤ k) = the same, X binomial
    (n, p). (0, 1) without any sample. It also holds for samples without replacement, where it is wider than needed.
    Source: C. J. Clopper and E. S. Pearson, The use of confidence or fiducial limits illustrated in the case of the
    binomial, Biometrika 26 (1934), 404–413.
    """
    tail = (1 - confidence) / 2
    lower = 0.0 if matching == 0 else _root(lambda p: at_most(total - matching, total, 1 - p) - tail)
    upper = 1.0 if matching == total else _root(lambda p: tail - at_most(matching, total, p))
    return lower, upper


def at_most(k: int, n: int, p: float) -> float:
    """P(X ≤ k) for X binomial (n, p), 0 < p < 1."""
    if k < 0:
        return 0.0
    i = np.arange(k + 1)
    ways = _log_factorial(n) - _log_factorial(i) - _log_factorial(n - i)
    return float(np.exp(ways + i * np.log(p) + (n - i) * np.log1p(-p)).sum())


def _root(rising: Callable[[float], float]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2
