"""The dynamic threshold: from which score on a chunk is relevant, taken from the distribution of the scores.

ChunkRAG (Singh et al., 2024, arXiv:2410.19572) puts the threshold at the mean of an interaction's scores, or a standard
deviation above it. With three chunks those two are mostly noise, and where all chunks are alike, good or bad, half of
them would fall below. Here both are drawn towards the app's, as if `WEIGHT` chunks of the app had been scored with the
interaction's own: with three chunks the app has 10/13 of the say, with forty a fifth. And the threshold stays within
limits, so that chunks that are all good are all kept, and those that are all bad all dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Final

WEIGHT: Final = 10.0  # chunks that the prior counts for
ABOVE: Final = 0.5  # standard deviations above the mean, of scores by a language model
LOWEST, HIGHEST = 0.35, 0.7  # of scores by a language model


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Mean and standard deviation of scores in [0, 1]."""

    mean: float
    sd: float


# Of scores about which nothing is known: a third of the chunks good, the others not, and noise on both.
UNKNOWN: Final = Spread(mean=0.4, sd=0.3)


def shrunk(scores: Sequence[float], towards: Spread, *, weight: float = WEIGHT) -> Spread:
    """Mean and standard deviation of `scores` together with `weight` scores that are spread as `towards`.

    With n scores of mean x̄, the mean is (n·x̄ + w·μ) / (n + w) and the variance
    (Σ(x - x̄)² + w·σ² + n·w / (n + w) · (x̄ - μ)²) / (n + w): those of two pooled groups. A score more or less moves the
    mean by at most 1 / (n + w). `weight` is above 0; no scores give `towards`.
    """
    if not scores:
        return towards
    own = fsum(scores) / len(scores)
    sd = sqrt(fsum((score - own) ** 2 for score in scores) / len(scores))
    return pooled(len(scores), Spread(mean=own, sd=sd), towards, weight=weight)


def pooled(count: int, own: Spread, towards: Spread, *, weight: float = WEIGHT) -> Spread:
    """`shrunk` of `count` scores whose spread is known."""
    whole = count + weight
    squares = count * own.sd**2 + weight * towards.sd**2 + count * weight / whole * (own.mean - towards.mean) ** 2
    return Spread(mean=(count * own.mean + weight * towards.mean) / whole, sd=sqrt(squares / whole))


def dynamic_threshold(
    scores: Sequence[float],
    prior: Spread = UNKNOWN,
    limits: tuple[float, float] = (LOWEST, HIGHEST),
    *,
    above: float = ABOVE,
) -> float:
    """The score from which on a chunk is relevant, within `limits`, else `above` standard deviations over the mean.

    `scores`, in [0, 1], are those of an interaction's chunks; `prior` is the spread of the app's.
    """
    spread = shrunk(scores, prior)
    return min(max(spread.mean + above * spread.sd, limits[0]), limits[1])
