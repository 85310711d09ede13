"""Measures how reliable probabilities are: Brier score, calibration error, reliability curve. Pure numpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.review.evaluate.bootstrap import portions
from monitor.review.evaluate.statistics import Bools, Floats, Statistic, counts, defined, once, precision_of, ratio


class Bin(NamedTuple):
    """One bin of a reliability curve, [low, high); the last includes 1. The two means are None if it is empty."""

    low: float
    high: float
    rows: int
    mean_probability: float | None
    observed: float | None


def brier(probabilities: Floats, outcome: Bools) -> float | None:
    """Mean of (p - outcome)² (Brier, 1950): 0 is perfect, always ½ gives .25. None without rows."""
    return defined(weighted_brier(probabilities, outcome)(once(outcome))[0, 0])


def weighted_brier(probabilities: Floats, outcome: Bools) -> Statistic:
    """`brier` as a statistic with k = 1."""
    squares = (probabilities - outcome) ** 2
    return lambda weights: ratio(weights @ squares, weights.sum(axis=1))[:, None]


def reliability(probabilities: Floats, outcome: Bools, bins: int = 10) -> list[Bin]:
    """Equal bins of [0, 1] with the mean probability and the share observed in each."""
    where = _binned(probabilities, bins)
    found = []
    for number in range(bins):
        inside = where == number
        rows = int(inside.sum())
        mean, share = (float(probabilities[inside].mean()), float(outcome[inside].mean())) if rows else (None, None)
        found.append(Bin(number / bins, (number + 1) / bins, rows, mean, share))
    return found


def weighted_observed(probabilities: Floats, outcome: Bools, bins: int = 10) -> Statistic:
    """The share observed in each bin, as a statistic with k = bins."""
    inside = _binned(probabilities, bins)[:, None] == np.arange(bins)
    return lambda weights: precision_of(counts(inside, outcome, weights))


def ece(probabilities: Floats, outcome: Bools, bins: int = 10) -> float | None:
    """Expected calibration error (Naeini et al., 2015): Σ over bins of share of rows · |observed - mean probability|.

    None without rows.
    """
    if not len(outcome):
        return None
    gaps = np.bincount(_binned(probabilities, bins), weights=outcome - probabilities, minlength=bins)
    return float(np.abs(gaps).sum() / len(outcome))


def expected_ece_of_perfect(probabilities: Floats, bins: int, draws: int, rng: np.random.Generator) -> float | None:
    """The mean `ece` of these probabilities if each were exactly right; with few rows it is above 0 by chance alone.

    It is simulated: the outcome of each row is drawn independently with its probability. None without rows.
    """
    if not len(probabilities):
        return None
    inside = (_binned(probabilities, bins)[:, None] == np.arange(bins)).astype(np.float64)
    total = 0.0
    for size in portions(draws, len(probabilities)):
        gaps = ((rng.random((size, len(probabilities))) < probabilities) - probabilities) @ inside
        total += float(np.abs(gaps).sum())
    return total / draws / len(probabilities)


def _binned(probabilities: Floats, bins: int) -> NDArray[np.intp]:
    return np.searchsorted(np.arange(1, bins) / bins, probabilities, side="right")
