"""Compares a window's rate with those of past windows; `change.py` says which."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan, cos, pi, sin, sqrt
from typing import NamedTuple

from monitor.alert.window import Count
from monitor.core.figures.proportions import Share, are_many, greater


class Comparison(NamedTuple):
    """The usual level, by how much the current one exceeds it, and the chance of such an excess or a larger one."""

    usual: float
    rise: float
    chance: float


def compare(current: Count, past: Sequence[Count]) -> Comparison:
    """A one-sided quasi-binomial two-proportion test; `current` has answers, and so do at least two counts of `past`.

    The chance is the larger one of this test and Fisher's exact test against the whole past. With few bad answers the
    former, an approximation, is too confident; the latter ignores how much past windows vary by themselves, and is left
    out where there are many of each kind.

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
    shares = (
        Share(matching=round(current.sum), total=current.total),
        Share(matching=round(usual * total), total=total),
    )
    # of many, the other test is the less confident one; the exact one would take memory for all of them
    exact = 0.0 if are_many(*shares) else greater(*shares)
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
