"""Measures how far scores that a judge gives agree with those of people, on the scale from 0 to 5 (0: not sure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import floor, fsum, sqrt
from statistics import fmean

from monitor.assess.judge.correctness.grade import HIGHEST, UNSURE


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement on `count` answers. Each figure is None where it is undefined, and `undefined` says why.

    `bias` is the mean of the judge's score less the person's: above 0, the judge is too kind.
    """

    count: int
    pearson: float | None
    spearman: float | None
    kappa: float | None
    bias: float | None
    undefined: str | None = None


def agreement(given: Sequence[float], human: Sequence[float]) -> Agreement:
    """The agreement of `given`, the judge's scores, with `human`, those of the same answers in the same order.

    Raises:
        ValueError: there are more of one than of the other.
    """
    differences = [g - h for g, h in zip(given, human, strict=True)]
    return Agreement(
        count=len(differences),
        pearson=pearson(given, human),
        spearman=pearson(mean_ranks(given), mean_ranks(human)),
        kappa=weighted_kappa(given, human),
        bias=fmean(differences) if differences else None,
        undefined=_undefined(given, human),
    )


def _undefined(given: Sequence[float], human: Sequence[float]) -> str | None:
    if not given:
        return "there are no such answers"
    if len(given) == 1:
        return "there is one such answer only"
    constant = [who for who, scores in (("the judge", given), ("people", human)) if min(scores) == max(scores)]
    return f"one and the same score by {' and by '.join(constant)}" if constant else None


def table(given: Sequence[float], human: Sequence[float]) -> list[list[int]]:
    """How many answers have each person's score, by row, and each of the judge's, by column, from 0 to 5.

    A score between two counts as the nearest, a half as the higher one; only 0 itself is *not sure*.
    """
    counts = [[0] * (HIGHEST + 1) for _ in range(HIGHEST + 1)]
    for g, h in zip(given, human, strict=True):
        counts[_whole(h)][_whole(g)] += 1
    return counts


def _whole(score: float) -> int:
    return max(1, floor(score + 0.5)) if score > UNSURE else UNSURE


def pearson(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Pearson's r = Σ (x - x̄)(y - ȳ) / √(Σ (x - x̄)² · Σ (y - ȳ)²); None if all of one are equal.

    Of ranks, with the mean rank for equal values, it is Spearman's ρ (C. Spearman, The proof and measurement of
    association between two things, American Journal of Psychology 15 (1904), 72-101).
    """
    if not first:
        return None
    x, y = _centred(first), _centred(second)
    squares = fsum(a * a for a in x), fsum(b * b for b in y)
    if min(squares) == 0:
        return None
    return max(-1.0, min(1.0, fsum(a * b for a, b in zip(x, y, strict=True)) / sqrt(squares[0] * squares[1])))


def mean_ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1 up; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    before = 0
    for _, group in groupby(order, key=values.__getitem__):
        places = list(group)
        for place in places:
            ranks[place] = before + (len(places) + 1) / 2
        before += len(places)
    return ranks


def weighted_kappa(given: Sequence[float], human: Sequence[float]) -> float | None:
    """κ with quadratic weights: 1 - Σᵢ (xᵢ - yᵢ)² / n ÷ Σᵢⱼ (xᵢ - yⱼ)² / n².

    The lower sum is what two raters with these frequencies of scores would differ by if they scored by chance. Written
    this way it holds for means of several judgings too. None if it is undefined: no answers, or one and the same score
    throughout. Source: J. Cohen, Weighted kappa, Psychological Bulletin 70 (1968), 213-220; for quadratic weights and
    scores between the categories, K. Krippendorff, Bivariate agreement coefficients for reliability of data,
    Sociological Methodology 2 (1970), 139-150.
    """
    if not given:
        return None
    observed = fmean((x - y) ** 2 for x, y in zip(given, human, strict=True))
    spread = fmean(x * x for x in _centred(given)) + fmean(y * y for y in _centred(human))
    by_chance = spread + (fmean(given) - fmean(human)) ** 2
    return 1 - observed / by_chance if by_chance > 0 else None


def _centred(values: Sequence[float]) -> list[float]:
    mean = fmean(values)
    centred = [value - mean for value in values]
    return centred if max(values) > min(values) else [0.0] * len(values)
