"""What a calibration reaches on answers that it has not seen: the whole fit repeated without each fold in turn."""

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
    """Of each row, judged without its fold: probability of *self-generated*, shape (n,), and whether it is flagged."""

    probability: Floats
    flagged: Bools
    importance: dict[str, float]

    def figures(self, rows: Rows) -> dict[str, float]:
        """AUC, precision, recall, F1, F2, flag-everything F1, Brier score and ECE; those that are defined."""
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
        """Of 95 %, by bootstrap over the groups, for all but ECE, which resampling biases, and flag-everything."""
        ranked = weighted_auc(self.probability, rows.made_up)
        scored = weighted_brier(self.probability, rows.made_up)

        def statistic(weights: Floats) -> Floats:
            found = counts(self.flagged[:, None], rows.made_up, weights)
            return np.column_stack(
                [
                    ranked(weights), precision_of(found), recall_of(found), f_of(found), f_of(found, 2),
                    scored(weights),
                ]
            )  # fmt: skip

        found = bootstrap_over_groups(statistic, rows.groups, DRAWS, rng)
        names = ("auc", "precision", "recall", "f1", "f2", "brier")
        return {name: interval for name, interval in zip(names, found, strict=True) if interval is not None}


def cross_validated(rows: Rows, objective: Objective, rng: np.random.Generator) -> CrossValidated:
    """Fits weights, probabilities and threshold without each fold in turn, and judges the fold by them."""
    fold = folds(rows.groups, FOLDS, rng)
    probability, flagged = np.zeros(len(fold)), np.zeros(len(fold), bool)
    fits = {}
    for number in range(FOLDS):
        test = fold == number
        train = rows.where(~test)
        fitted = fit(train, rng)
        slope, shift, threshold = turning(train, fitted.strength, objective, rng)
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


def turning(
    rows: Rows, strength: float, objective: Objective, rng: np.random.Generator
) -> tuple[float, float, float | None]:
    """Slope and shift that put the log-odds right, and the best threshold of the probability, on held-out rows.

    The threshold is None where none reaches the objective.
    """
    fold = folds(rows.groups, FOLDS, rng)
    odds = held_out(rows, fold, strength)
    slope, shift = platt(odds, rows.made_up)
    best = best_threshold(probabilities(slope * odds + shift), rows.made_up, objective)
    return slope, shift, None if best is None else best.threshold
