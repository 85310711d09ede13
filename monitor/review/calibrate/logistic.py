"""Logistic regression with a ridge penalty, an offset and prescribed signs. Pure numpy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_STEPS = 50
_SMALL = 1e-9


class Logistic(NamedTuple):
    """log-odds = offset + bias + x · weights."""

    bias: float
    weights: Floats

    def log_odds(self, x: Floats, offset: Floats) -> Floats:
        """The log-odds of each row of `x`, shape (n,)."""
        odds: Floats = offset + self.bias + x @ self.weights
        return odds


def fit_logistic(x: Floats, y: Bools, *, offset: Floats, penalty: Floats, signs: Floats) -> Logistic:
    """Minimises -Σ log-likelihood + ½ Σ penalty · weight² by Newton's method; the bias is not penalised.

    Args:
        x: shape (n, d), finite.
        y: shape (n,), with both classes.
        offset: log-odds known beforehand, shape (n,).
        penalty: for each weight, above 0, shape (d,).
        signs: -1 or 1 if a weight may only have that sign, 0 if it may have either, shape (d,). A weight that would
            have the wrong sign is 0.
    """
    taken = np.ones(x.shape[1], bool)
    while True:
        fitted = _newton(x[:, taken], y, offset, penalty[taken])
        wrong = fitted.weights * signs[taken] < 0
        if not wrong.any():
            weights = np.zeros(x.shape[1])
            weights[taken] = fitted.weights
            return Logistic(fitted.bias, weights)
        taken[np.flatnonzero(taken)[wrong]] = False


def _newton(x: Floats, y: Bools, offset: Floats, penalty: Floats) -> Logistic:
    design = np.column_stack([np.ones(len(x)), x])
    ridge = np.concatenate([[_SMALL], penalty])
    found = np.zeros(design.shape[1])
    loss = _loss(design, y, offset, ridge, found)
    for _ in range(_STEPS):
        p = probabilities(offset + design @ found)
        gradient = design.T @ (p - y) + ridge * found
        curvature = (design * (p * (1 - p))[:, None]).T @ design + np.diag(ridge + _SMALL)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while (new := _loss(design, y, offset, ridge, found - size * step)) > loss and size > _SMALL:
            size /= 2
        found = found - size * step
        if loss - new < _SMALL:
            break
        loss = new
    return Logistic(float(found[0]), found[1:])


def probabilities(log_odds: Floats) -> Floats:
    """1 / (1 + e^-x), without overflow."""
    found: Floats = np.exp(-np.logaddexp(0, -log_odds))
    return found


def log_loss(log_odds: Floats, y: Bools) -> float:
    """Mean negative log-likelihood."""
    return float(np.mean(np.logaddexp(0, np.where(y, -log_odds, log_odds))))


def _loss(design: Floats, y: Bools, offset: Floats, ridge: Floats, found: Floats) -> float:
    return log_loss(offset + design @ found, y) * len(y) + 0.5 * float(ridge @ np.square(found))
