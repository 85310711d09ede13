"""Computes confidence intervals by resampling groups of rows. Pure numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.review.evaluate.statistics import Floats, Statistic

CONFIDENCE = 0.95
LEAST_DEFINED = 0.9  # share of the resamples in which a figure must be defined to get an interval
_AT_ONCE = 4_000_000  # weights in memory at a time
_FEWEST_GROUPS = 2  # a single group, resampled, is itself again


class Interval(NamedTuple):
    """Bounds of a 95% confidence interval."""

    low: float
    high: float


def bootstrap_over_groups(
    statistic: Statistic, groups: NDArray[np.generic], draws: int, rng: np.random.Generator
) -> list[Interval | None]:
    """A 95% percentile interval for each of the k figures of `statistic`.

    This is the cluster bootstrap (Davison and Hinkley, 1997, §3.8): it draws groups with replacement, each with all its
    rows, so that rows of the same source do not pass for independent evidence. `groups` names the group of each row,
    shape (n,). A figure has no interval if there are fewer than two groups, or if it is undefined in more than a tenth
    of the draws.
    """
    _, group = np.unique(groups, return_inverse=True)
    number = int(group.max()) + 1 if len(group) else 0
    if number < _FEWEST_GROUPS:
        return [None] * statistic(np.ones((1, len(group)))).shape[1]
    found = np.concatenate(
        [
            statistic(rng.multinomial(number, np.full(number, 1 / number), size=size).astype(np.float64)[:, group])
            for size in portions(draws, len(group))
        ]
    )
    return [_percentiles(values[~np.isnan(values)], draws) for values in found.T]


def _percentiles(values: Floats, draws: int) -> Interval | None:
    if len(values) < LEAST_DEFINED * draws:
        return None
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))


def portions(draws: int, rows: int) -> Iterator[int]:
    """Splits `draws` into portions whose weights fit in memory."""
    size = max(1, _AT_ONCE // max(rows, 1))
    for start in range(0, draws, size):
        yield min(size, draws - start)
