"""Thresholds of the thesis's rule, one for each metric, fitted to labels."""

from __future__ import annotations

import numpy as np

from monitor.calibrate.logistic import Bools, Floats
from monitor.classify.profile import MetricRule, MetricRules
from monitor.classify.rules import PRIMARY
from monitor.evaluate.statistics import Objective, counts

SWEEPS = 2
STEPS = 40  # thresholds tried for a metric, at quantiles of its values
NEVER = -1.0  # nothing is below it
RARE = 0.02  # share of grounded answers that may fall below a threshold which decides only which kind of negative


def fitted_rules(rules: MetricRules, values: dict[str, Floats], negative: Bools, objective: Objective) -> MetricRules:
    """The rules with the thresholds that do best together for *any primary metric below its own*.

    Each metric's threshold is chosen in turn while the others stand, SWEEPS times, from never on; QRD's and QA's are as
    high as leaves no more than RARE of the grounded answers below. `values` has each metric's reading, shape (n,), NaN
    where it is undefined; `negative` the labels.
    """
    chosen = dict.fromkeys(values, NEVER)

    def reached() -> float:
        flagged = np.logical_or.reduce([values[name] < chosen[name] for name in PRIMARY])
        value = float(objective(counts(flagged, negative, np.ones((1, len(negative)))))[0])
        return -np.inf if np.isnan(value) else value

    for _ in range(SWEEPS):
        for name in PRIMARY:
            best = chosen[name], reached()
            for threshold in _tried(values[name]):
                chosen[name] = threshold
                if (value := reached()) > best[1]:
                    best = threshold, value
            chosen[name] = best[0]
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


def _tried(values: Floats) -> list[float]:
    known = values[~np.isnan(values)]
    return np.unique(np.quantile(known, np.linspace(0, 1, STEPS))).tolist() if len(known) else []
