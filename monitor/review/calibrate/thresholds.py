"""Fits the thresholds of the study's rule to labels, one for each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np

from monitor.assess.classify.profile import MetricRule, MetricRules
from monitor.assess.classify.verdict import PRIMARY
from monitor.review.calibrate.logistic import Bools, Floats
from monitor.review.evaluate.statistics import Objective, counts, once

SWEEPS = 2
STEPS = 40  # thresholds tried for each metric, at quantiles of its values
NEVER = -1.0  # no value is below it
RARE = 0.02  # share of grounded answers that may be below QRD's or QA's threshold, which only tells negatives apart


def fitted_rules(
    rules: MetricRules, values: Mapping[str, Floats], negative: Bools, objective: Objective
) -> MetricRules:
    """The rules with the thresholds that together work best for *any primary metric below its threshold*.

    It chooses each metric's threshold in turn while the others are fixed, SWEEPS times, starting from NEVER, for each
    order of the three, and keeps the best. QRD's and QA's thresholds are the highest with at most RARE of the grounded
    answers below them. `values` has each metric's values, shape (n,), NaN if undefined; `negative` holds the labels.
    """
    _, chosen = max(
        (_in_turn(order, values, negative, objective) for order in permutations(PRIMARY)), key=lambda found: found[0]
    )
    for name in set(values) - set(PRIMARY):
        grounded = values[name][~negative]
        grounded = grounded[~np.isnan(grounded)]
        chosen[name] = float(np.quantile(grounded, RARE)) if len(grounded) else NEVER
    return MetricRules(
        **{
            name: MetricRule(threshold=round(min(max(chosen[name], -1.0), 1.0), 4), reading=rule.reading)
            for name, rule in rules
        }
    )


def _in_turn(
    order: Sequence[str], values: Mapping[str, Floats], negative: Bools, objective: Objective
) -> tuple[float, dict[str, float]]:
    """The value of the objective, and the thresholds."""
    chosen, best = dict.fromkeys(values, NEVER), -np.inf
    for name in (*order,) * SWEEPS:
        others = np.logical_or.reduce([values[other] < chosen[other] for other in order if other != name])
        tried = np.array([NEVER, *_tried(values[name])])
        flagged = others[:, None] | (values[name][:, None] < tried)
        reached = np.nan_to_num(objective(counts(flagged, negative, once(negative)))[0], nan=-1.0)
        place = int(reached.argmax())
        chosen[name], best = float(tried[place]), float(reached[place])
    return best, chosen


def _tried(values: Floats) -> list[float]:
    known = values[~np.isnan(values)]
    return np.unique(np.quantile(known, np.linspace(0, 1, STEPS))).tolist() if len(known) else []
