"""Confidence intervals by resampling groups of rows. Pure numpy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.review.evaluate.statistics import Floats, Statistic

CONFIDENCE = 0.95
LEAST_DEFINED = 0.9  # share of resamples in which a figure has to be defined to have an interval
_AT_ONCE = 4_000_000  # weights held in memory


class Interval(NamedTuple):
    """Bounds of a 95% confidence interval."""

    low: float
    high: float


def bootstrap_over_groups(
    statistic: Statistic, groups: NDArray[np.generic], draws: int, rng: np.random.Generator
) -> list[Interval | None]:
    """A 95% percentile interval for each of the k figures of `statistic`.

    The cluster bootstrap (Davison and Hinkley, 1997, §3.8): groups are drawn with replacement, and every row of a drawn
    group comes with it, so that rows which share a source do not pass for independent evidence. `groups` names the
    group of each row, shape (n,). A figure has no interval where there are fewer than two groups, or where it is not
    defined in a tenth of the draws.
    """
    _, group = np.unique(groups, return_inverse=True)
    number = int(group.max()) + 1 if len(group) else 0
    if number < 2:  # noqa: PLR2004  one group resampled is itself again
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
    """`draws` in portions whose weights fit in memory."""
    size = max(1, _AT_ONCE // max(rows, 1))
    for start in range(0, draws, size):
        yield min(size, draws - start)
