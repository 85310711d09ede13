"""Measures a calibration on answers it has not seen: repeats the whole fit without each fold in turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.assess.score.features import FEATURES
from monitor.review.calibrate.fit import FOLDS, Rows, fit, folds, held_out, platt
from monitor.review.calibrate.logistic import Bools, Floats, probabilities
from monitor.review.evaluate.bootstrap import Interval, bootstrap_over_groups
from monitor.review.evaluate.reliability import brier, ece, weighted_brier
from monitor.review.evaluate.statistics import (
    Objective,
    auc,
    best_threshold,
    counts,
    f_of,
    flag_everything_f_of,
    once,
    precision_of,
    recall_of,
    weighted_auc,
)

DRAWS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossValidated:
    """The held-out probability of *self-generated* of each row, shape (n,), and whether the row is flagged."""

    probability: Floats
    flagged: Bools
    importance: dict[str, float]

    def figures(self, rows: Rows) -> dict[str, float]:
        """AUC, precision, recall, F1, F2, flag-everything F1, Brier score and ECE; the undefined ones are left out."""
        found = counts(self.flagged[:, None], rows.made_up, once(rows.made_up))
        values = {
            "auc": auc(self.probability, rows.made_up),
            "precision": float(precision_of(found)[0, 0]),
            "recall": float(recall_of(found)[0, 0]),
            "f1": float(f_of(found)[0, 0]),
            "f2": float(f_of(found, 2)[0, 0]),
            "flag_everything_f1": float(flag_everything_f_of(found)[0, 0]),
            "brier": brier(self.probability, rows.made_up),
            "ece": ece(self.probability, rows.made_up),
        }
        return {name: value for name, value in values.items() if value is not None and not np.isnan(value)}

    def intervals(self, rows: Rows, rng: np.random.Generator) -> dict[str, Interval]:
        """95 % intervals by bootstrap over the groups. ECE, which resampling biases, and flag-everything have none."""
        ranked = weighted_auc(self.probability, rows.made_up)
        scored = weighted_brier(self.probability, rows.made_up)

        def statistic(weights: Floats) -> Floats:
            found = counts(self.flagged[:, None], rows.made_up, weights)
            flagging = (precision_of(found), recall_of(found), f_of(found), f_of(found, 2))
            return np.column_stack([ranked(weights), *flagging, scored(weights)])

        found = bootstrap_over_groups(statistic, rows.groups, DRAWS, rng)
        names = ("auc", "precision", "recall", "f1", "f2", "brier")
        return {name: interval for name, interval in zip(names, found, strict=True) if interval is not None}


def cross_validated(rows: Rows, objective: Objective, rng: np.random.Generator) -> CrossValidated:
    """Fits weights, probabilities and threshold without each fold in turn, and applies them to the fold."""
    fold = folds(rows.groups, FOLDS, rng)
    probability, flagged = np.zeros(len(fold)), np.zeros(len(fold), bool)
    fits = {}
    for number in range(FOLDS):
        test = fold == number
        train = rows.where(~test)
        fitted = fit(train, rng)
        slope, shift, threshold = slope_shift_threshold(train, fitted.strength, objective, rng)
        fits[number] = fitted, slope, shift
        probability[test] = probabilities(slope * fitted.log_odds(rows.where(test)) + shift)
        flagged[test] = threshold is not None and probability[test] >= threshold
    whole = auc(probability, rows.made_up) or 0.0
    importance = {}
    for place, name in enumerate(FEATURES):
        shuffled = rows.shuffled(place, rng)
        without = np.zeros(len(fold))
        for number, (fitted, slope, shift) in fits.items():
            test = fold == number
            without[test] = slope * fitted.log_odds(shuffled.where(test)) + shift
        importance[name] = whole - (auc(probabilities(without), rows.made_up) or 0.0)
    return CrossValidated(probability=probability, flagged=flagged, importance=importance)


def slope_shift_threshold(
    rows: Rows, strength: float, objective: Objective, rng: np.random.Generator
) -> tuple[float, float, float | None]:
    """The slope and shift that correct the log-odds, and the best threshold of the probability, on held-out rows.

    The threshold is None if none meets the objective.
    """
    fold = folds(rows.groups, FOLDS, rng)
    odds = held_out(rows, fold, strength)
    slope, shift = platt(odds, rows.made_up)
    best = best_threshold(probabilities(slope * odds + shift), rows.made_up, objective)
    return slope, shift, None if best is None else best.threshold
