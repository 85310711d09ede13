"""Fits the weights of the features to labels: it recalibrates the starting profile's blend and adds to it.

The log-odds of the starting profile are the offset. Their slope may change, and every feature may add to them under a
ridge penalty; cross-validation over groups chooses its strength. So a few labels do little more than correct the
blend's probabilities, and many labels give new weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.assess.classify.profile import FeatureWeight, Groundedness
from monitor.assess.score.features import FEATURES
from monitor.review.calibrate.logistic import Bools, Floats, Logistic, fit_logistic, log_loss

FOLDS = 5
STRENGTHS: Final = (10.0, 30.0, 100.0, 300.0, 1000.0, 1e6)  # of the penalty; the last one leaves the blend unchanged
SLOPE_PENALTY = 1.0  # on the change of the blend's slope
_MORE_MADE_UP = frozenset(
    {"missing_numbers", "missing_names", "missing_facts", "contradictions", "support_elsewhere", "detector"}
)
_DEPENDS_ON_APP = frozenset({"sdq", "qrd", "qa", "question_held", "more_sentences"})
# 1: a higher value means that more of the answer is made up; -1: less; 0: either, depending on the app.
SIGNS: Final = {name: 1 if name in _MORE_MADE_UP else 0 if name in _DEPENDS_ON_APP else -1 for name in FEATURES}

Indices = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)  # without slots, so that `prior` can be cached
class Rows:
    """Labelled answers that do not refuse.

    `features` has shape (n, len(FEATURES)), NaN if a value is missing; `made_up` is the label; `groups` names the
    source of each row; `start` belongs to the starting profile.
    """

    features: Floats
    made_up: Bools
    groups: NDArray[np.str_]
    start: Groundedness

    @cached_property
    def prior(self) -> Floats:
        """Log-odds of *self-generated* by the starting profile, shape (n,)."""
        odds = np.full(len(self.made_up), self.start.bias)
        for place, name in enumerate(FEATURES):
            if weight := self.start.features.get(name):
                moved = weight.weight * (self.features[:, place] - weight.center) / weight.scale
                odds += np.where(np.isnan(moved), 0.0, moved)
        return odds

    def shuffled(self, place: int, rng: np.random.Generator) -> Rows:
        """The rows with the values of one feature shuffled."""
        features = self.features.copy()
        features[:, place] = rng.permutation(features[:, place])
        return replace(self, features=features)

    def where(self, kept: Bools | Indices) -> Rows:
        return replace(self, features=self.features[kept], made_up=self.made_up[kept], groups=self.groups[kept])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The weights of the prior's log-odds (first) and of the standardised features, and how these were fitted."""

    model: Logistic
    center: Floats
    scale: Floats
    strength: float

    def log_odds(self, rows: Rows) -> Floats:
        """Log-odds of *self-generated*, shape (n,)."""
        return self.model.log_odds(_design(rows, self.center, self.scale), rows.prior)

    def groundedness(self, start: Groundedness, threshold: float, slope: float, shift: float) -> Groundedness:
        """The fit as part of a profile, with its log-odds times `slope` plus `shift`; no feature without effect."""
        change, *added = self.model.weights
        slopes = np.array(added) / self.scale
        bias = self.model.bias + (1 + change) * start.bias
        for place, name in enumerate(FEATURES):
            if name in start.features:
                old = start.features[name]
                slopes[place] += (1 + change) * old.weight / old.scale  # the center stays the old one
        return Groundedness(
            bias=slope * bias + shift,
            threshold=threshold,
            features={
                name: FeatureWeight(
                    weight=float(slope * slopes[place] * self.scale[place]),
                    center=float(self.center[place]),
                    scale=float(self.scale[place]),
                )
                for place, name in enumerate(FEATURES)
                if slopes[place]
            },
        )


def folds(groups: NDArray[np.str_], count: int, rng: np.random.Generator) -> Indices:
    """The fold of each row, shape (n,). Rows of a group stay together; folds are of nearly equal size."""
    names, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(names))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold, filled = np.zeros(len(names), np.int64), np.zeros(count)
    for name in order:
        fold[name] = filled.argmin()
        filled[fold[name]] += sizes[name]
    return fold[group]


def fit(rows: Rows, rng: np.random.Generator, strengths: Sequence[float] = STRENGTHS) -> Fitted:
    """Fits the weights with the penalty that has the lowest log-loss on held-out groups."""
    if len(strengths) == 1:
        return _fit(rows, strengths[0])
    fold = folds(rows.groups, FOLDS, rng)
    losses = [log_loss(held_out(rows, fold, strength), rows.made_up) for strength in strengths]
    return _fit(rows, strengths[int(np.argmin(losses))])


def held_out(rows: Rows, fold: Indices, strength: float) -> Floats:
    """The log-odds of each row by weights fitted without its fold, shape (n,)."""
    odds = np.zeros(len(rows.made_up))
    for number in np.unique(fold):
        test = fold == number
        odds[test] = _fit(rows.where(~test), strength).log_odds(rows.where(test))
    return odds


def platt(odds: Floats, y: Bools) -> tuple[float, float]:
    """The slope > 0 and shift that calibrate log-odds to `y` (Platt, 1999), with a light penalty towards 1 and 0."""
    found = fit_logistic(odds[:, None], y, offset=odds, penalty=np.ones(1), signs=np.zeros(1))
    slope = 1 + float(found.weights[0])
    return (slope, found.bias) if slope > 0 else (1.0, 0.0)


def _fit(rows: Rows, strength: float) -> Fitted:
    with np.errstate(invalid="ignore"):
        counts = (~np.isnan(rows.features)).sum(axis=0)
        center = np.nansum(rows.features, axis=0) / np.maximum(counts, 1)
        spread = np.sqrt(np.nansum(np.square(rows.features - center), axis=0) / np.maximum(counts, 1))
    scale = np.where(spread > 0, spread, 1.0)
    for place, name in enumerate(FEATURES):  # a missing value then moves neither the prior nor what is added to it
        if name in rows.start.features:
            center[place] = rows.start.features[name].center
    signs = np.array([1, *SIGNS.values()], float)
    signs[0] = 0
    model = fit_logistic(
        _design(rows, center, scale),
        rows.made_up,
        offset=rows.prior,
        penalty=np.array([SLOPE_PENALTY, *[strength] * len(FEATURES)]),
        signs=signs,
    )
    return Fitted(model=model, center=center, scale=scale, strength=strength)


def _design(rows: Rows, center: Floats, scale: Floats) -> Floats:
    standard = (rows.features - center) / scale
    return np.column_stack([rows.prior, np.where(np.isnan(standard), 0.0, standard)])
