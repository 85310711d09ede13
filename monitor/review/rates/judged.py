"""The interval of a rate from a random sample that a judge has read, and labels drawn from what it said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from monitor.core.figures.proportions import CONFIDENCE
from monitor.review.rates import stratified
from monitor.review.rates.stratified import Stratum

# Strata of scores and, within each, whether the judge contradicts the answer, finds it supported, or said nothing.
BY_SCORE = (0.10, 0.40, 1.0)
_ENDLESS = 10**15  # answers
SAYS = ("unsupported", "supported", "nothing")
# The share of bad answers that is expected in each cell, in the order of `SAYS`. Only the width depends on it.
EXPECTED = ((0.70, 0.20, 0.35), (0.35, 0.03, 0.07), (0.15, 0.01, 0.015))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """What the judge said of `judged` answers of a stratum's random sample, and `positive` of `labels` among them."""

    judged: int
    labels: int
    positive: float
    expected: float

    @property
    def smooth(self) -> float:
        """The rate with two labels more, which count as what is expected: never 0 or 1."""
        return (self.positive + 2 * self.expected) / (self.labels + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedStratum:
    """The cells of a stratum of so many `answers`."""

    answers: int
    cells: Sequence[Cell]


def estimate(strata: Sequence[JudgedStratum]) -> float | None:
    """θ̂ = Σ W_h Σ_j (m_hj/m_h)·x_hj/n_hj; None while a cell with judged answers has no label."""
    total, theta = sum(s.answers for s in strata), 0.0
    for s in strata:
        sampled = sum(cell.judged for cell in s.cells)
        if s.answers and (not sampled or any(cell.judged and not cell.labels for cell in s.cells)):
            return None
        theta += sum(
            s.answers / total * cell.judged / sampled * cell.positive / cell.labels for cell in s.cells if cell.judged
        )
    return theta if total else None


def interval(strata: Sequence[JudgedStratum], confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The interval of θ̂ as if from n_eff = θ(1 − θ)/V labels of one endless stratum, which its variance is worth.

        V = Σ W_h²·p̃_h(1 − p̃_h)/m_h + Σ w_hj²·p̃_hj(1 − p̃_hj)(1 − n_hj/m_hj)/n_hj

    with w_hj = W_h·m_hj/m_h, p̃_hj the `smooth` rates, p̃_h their mean in the stratum and θ in the whole. The first sum
    is what the random sample leaves unknown, the second what the labels leave unknown of it. What the judge says only
    sorts answers into cells, so a judge that is wrong makes the interval wider and not wrong. A cell without labels
    adds its weight to the interval's upper end.

    Source: double sampling for stratification, W. G. Cochran, Sampling Techniques, 3rd edition (1977), chapter 12.
    """
    total = sum(s.answers for s in strata)
    if not total:
        return 0.0, 1.0
    theta = known = variance = unknown = 0.0
    for s in strata:
        weight, sampled = s.answers / total, sum(cell.judged for cell in s.cells)
        if not sampled:
            unknown += weight
            continue
        mean = sum(cell.judged * cell.smooth for cell in s.cells) / sampled
        variance += weight**2 * mean * (1 - mean) / sampled * (1 - sampled / s.answers)
        theta += weight * mean
        for cell in s.cells:
            share = weight * cell.judged / sampled
            if not cell.labels:
                unknown += share
                continue
            known += share * cell.positive / cell.labels
            variance += share**2 * cell.smooth * (1 - cell.smooth) * (1 - cell.labels / cell.judged) / cell.labels
    if not variance:
        return known, min(known + unknown, 1.0)
    effective = theta * (1 - theta) / variance
    worth = Stratum(answers=_ENDLESS, labels=effective, positive=known * effective)
    lower, upper = stratified.interval([worth], confidence)
    return lower, min(upper + unknown, 1.0)
