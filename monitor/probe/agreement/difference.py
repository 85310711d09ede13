"""Tells whether contexts of one kind make the judge agree better with people than those of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from monitor.review.evaluate.bootstrap import Interval, bootstrap_over_groups
from monitor.review.evaluate.statistics import Floats

FEWEST: Final = 10  # different questions; the bootstrap of fewer is too narrow
DRAWS: Final = 4_000
SEED: Final = 20
_ROUNDING: Final = 1e-9
FIGURES: Final = ("pearson", "kappa", "bias")


class Paired(NamedTuple):
    """The scores of one answer: the judge's with contexts of either kind, and the person's."""

    question: str
    before: float
    after: float
    human: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A figure with the second kind of contexts less the same with the first, and its 95 % interval.

    `value` is None where either figure is undefined. Without `interval`, `reason` says why.
    """

    value: float | None
    interval: Interval | None
    reason: str | None = None

    @property
    def is_shown(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.interval is not None and not self.interval.low <= 0 <= self.interval.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How the figures differ on `answers` that have a score in both ways; `changes` are by FIGURES."""

    answers: int
    changes: dict[str, Change]


def difference(pairs: Sequence[Paired]) -> Difference:
    """Compares by the bootstrap over questions; each answer is drawn with both of its scores.

    What makes an answer hard to judge in both ways so drops out, and several answers to a question do not pass for
    independent evidence. Seeded: the same scores give the same interval.
    """
    before, after, human = (np.array([pair[n] for pair in pairs], np.float64) for n in (1, 2, 3))
    questions = np.array([pair.question for pair in pairs], object)

    def changed(weights: Floats) -> Floats:
        return _figures(after, human, weights) - _figures(before, human, weights)

    values = changed(np.ones((1, len(pairs))))[0] if pairs else np.full(len(FIGURES), np.nan)
    enough = len(set(questions)) >= FEWEST
    rng = np.random.default_rng(SEED)
    intervals = bootstrap_over_groups(changed, questions.astype(str), DRAWS, rng) if enough else [None] * len(FIGURES)
    return Difference(
        answers=len(pairs),
        changes={
            name: _change(float(value), interval, enough=enough)
            for name, value, interval in zip(FIGURES, values, intervals, strict=True)
        },
    )


def _change(value: float, interval: Interval | None, *, enough: bool) -> Change:
    if np.isnan(value):
        return Change(value=None, interval=None, reason="it is undefined for one of the two")
    if interval is not None:
        return Change(value=value, interval=interval)
    reason = "it is undefined in too many resamples" if enough else f"fewer than {FEWEST} different questions"
    return Change(value=value, interval=None, reason=reason)


def _figures(given: Floats, human: Floats, weights: Floats) -> Floats:
    """Pearson's r, weighted κ and bias (`coefficients`) under weights of shape (d, n): shape (d, 3)."""
    total = weights.sum(axis=1)
    mean_given, mean_human = weights @ given / total, weights @ human / total
    spread_given = _not_negative(weights @ given**2 / total - mean_given**2)
    spread_human = _not_negative(weights @ human**2 / total - mean_human**2)
    together = weights @ (given * human) / total - mean_given * mean_human
    by_chance = spread_given + spread_human + (mean_given - mean_human) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        pearson = together / np.sqrt(spread_given * spread_human)
        kappa = 1 - (weights @ (given - human) ** 2 / total) / by_chance
    pearson[(spread_given == 0) | (spread_human == 0)] = np.nan
    kappa[by_chance == 0] = np.nan
    return np.stack([np.clip(pearson, -1, 1), kappa, mean_given - mean_human], axis=1)


def _not_negative(values: Floats) -> Floats:
    """Without what rounding leaves of a spread that is 0."""
    return np.where(values > _ROUNDING, values, 0.0)
