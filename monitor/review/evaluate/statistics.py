"""Measures on labelled rows how good a way of flagging is, and how well scores rank. Pure numpy.

Everywhere n is the number of rows, `positive` and `flagged` are boolean, and a higher score means more likely positive.
A figure is None if it is undefined because there are no rows, or none of one class.

A `Statistic` computes figures under row weights: it takes weights of shape (d, n), one line for each of d resamples,
and returns k figures per line, shape (d, k), NaN if undefined. So all resamples are computed at once, and a figure and
its interval come from the same code.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Statistic: TypeAlias = Callable[[Floats], Floats]


class Counts(NamedTuple):
    """The four cells of flagged against positive, each an array of one shape."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats


class PrecisionRecallF(NamedTuple):
    """Precision is None if nothing is flagged, recall and F if nothing is positive."""

    precision: float | None
    recall: float | None
    f: float | None


class Roc(NamedTuple):
    """Corners of the curve from (0, 0) to (1, 1); a row is flagged at a point when its score ≥ the threshold there."""

    fpr: Floats
    tpr: Floats
    thresholds: Floats


class Best(NamedTuple):
    """The threshold with the highest value of an objective; a row is flagged if its score ≥ the threshold."""

    threshold: float
    value: float


Objective: TypeAlias = Callable[[Counts], Floats]  # higher is better; NaN if the threshold may not be used


def defined(value: float | np.floating) -> float | None:
    """The value as a float, None for NaN."""
    return None if math.isnan(value) else float(value)


def counts(flagged: Bools, positive: Bools, weights: Floats) -> Counts:
    """The weights in each cell for k ways of flagging, `flagged` of shape (n, k): arrays of shape (d, k)."""
    hit = flagged & positive[:, None]
    false_alarm = flagged & ~positive[:, None]
    tp, fp = weights @ hit.astype(np.float64), weights @ false_alarm.astype(np.float64)
    of_positive = (weights @ positive.astype(np.float64))[:, None]
    of_negative = (weights @ (~positive).astype(np.float64))[:, None]
    return Counts(tp=tp, fp=fp, fn=of_positive - tp, tn=of_negative - fp)


def accuracy_of(c: Counts) -> Floats:
    """(tp + tn) / all."""
    return ratio(c.tp + c.tn, c.tp + c.fp + c.fn + c.tn)


def precision_of(c: Counts) -> Floats:
    """Tp / (tp + fp)."""
    return ratio(c.tp, c.tp + c.fp)


def recall_of(c: Counts) -> Floats:
    """Tp / (tp + fn)."""
    return ratio(c.tp, c.tp + c.fn)


def f_of(c: Counts, beta: float = 1.0) -> Floats:
    """(1 + β²) tp / ((1 + β²) tp + β² fn + fp) (van Rijsbergen, 1979); NaN if nothing is positive."""
    square = beta * beta
    f = ratio((1 + square) * c.tp, (1 + square) * c.tp + square * c.fn + c.fp)
    return np.where(c.tp + c.fn > 0, f, np.nan)


def flag_everything_f_of(c: Counts, beta: float = 1.0) -> Floats:
    """F of flagging every row; any useful F exceeds it."""
    none = np.zeros_like(c.tp)
    return f_of(Counts(tp=c.tp + c.fn, fp=c.fp + c.tn, fn=none, tn=none), beta)


def precision_recall_f(flagged: Bools, positive: Bools, beta: float = 1.0) -> PrecisionRecallF:
    """Precision, recall and F of one way of flagging, shape (n,)."""
    c = counts(flagged[:, None], positive, once(positive))
    precision, recall, f = (defined(rate[0, 0]) for rate in (precision_of(c), recall_of(c), f_of(c, beta)))
    return PrecisionRecallF(precision, recall, f)


def auc(scores: Floats, positive: Bools) -> float | None:
    """Area under the ROC curve: the chance that a positive row scores above another one, ties counting one half.

    The Mann-Whitney statistic (Hanley and McNeil, 1982). None if one of the classes has no row.
    """
    return defined(weighted_auc(scores, positive)(once(positive))[0, 0])


def weighted_auc(scores: Floats, positive: Bools) -> Statistic:
    """`auc` as a statistic with k = 1."""
    order, starts = _ties(scores)

    def statistic(weights: Floats) -> Floats:
        hits, others = _by_score(weights, positive, order, starts)
        below = np.cumsum(others, axis=1) - others
        pairs = hits.sum(axis=1) * others.sum(axis=1)
        return ratio((hits * (below + others / 2)).sum(axis=1), pairs)[:, None]

    return statistic


def average_precision(scores: Floats, positive: Bools) -> float | None:
    """Σ (Rₖ - Rₖ₋₁) Pₖ over the distinct scores from the highest down; flagging at random gives the share of positives.

    None if no row is positive.
    """
    return defined(weighted_average_precision(scores, positive)(once(positive))[0, 0])


def weighted_average_precision(scores: Floats, positive: Bools) -> Statistic:
    """`average_precision` as a statistic with k = 1."""
    order, starts = _ties(-scores)

    def statistic(weights: Floats) -> Floats:
        hits, others = _by_score(weights, positive, order, starts)
        tp, fp = np.cumsum(hits, axis=1), np.cumsum(others, axis=1)
        precision = np.nan_to_num(ratio(tp, tp + fp))
        return ratio((hits * precision).sum(axis=1), hits.sum(axis=1))[:, None]

    return statistic


def roc(scores: Floats, positive: Bools) -> Roc | None:
    """The curve at every distinct score, without the points on a straight line between two others.

    It begins at (0, 0) with the threshold ∞. None if one of the classes has no row.
    """
    if positive.all() or not positive.any():
        return None
    tp, fp, thresholds = _descending(scores, positive)
    turns = np.ones(len(tp), bool)
    turns[1:-1] = np.diff(tp)[1:] * np.diff(fp)[:-1] != np.diff(tp)[:-1] * np.diff(fp)[1:]
    return Roc(fpr=fp[turns] / fp[-1], tpr=tp[turns] / tp[-1], thresholds=thresholds[turns])


def best_threshold(scores: Floats, positive: Bools, objective: Objective) -> Best | None:
    """The score that works best as a threshold; of equally good ones the highest, which flags least.

    None if the objective is defined at no score.
    """
    if not len(scores):
        return None
    tp, fp, thresholds = (values[1:] for values in _descending(scores, positive))
    values = objective(Counts(tp=tp, fp=fp, fn=positive.sum() - tp, tn=(~positive).sum() - fp))
    if np.isnan(values).all():
        return None
    place = int(np.nanargmax(values))
    return Best(threshold=float(thresholds[place]), value=float(values[place]))


def f_objective(beta: float) -> Objective:
    return lambda c: f_of(c, beta)


def recall_at_precision(least: float) -> Objective:
    """Maximises recall among the thresholds whose precision is at least `least`."""
    return lambda c: np.where(precision_of(c) >= least, recall_of(c), np.nan)


def once(rows: Bools) -> Floats:
    """Weights that count every row once."""
    return np.ones((1, len(rows)))


def ratio(above: Floats, below: Floats) -> Floats:
    """`above / below`, NaN where the divisor is 0."""
    result: Floats = np.full(np.shape(above), np.nan)
    return np.divide(above, below, out=result, where=below > 0)


def _ties(scores: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order of rising scores, and where each distinct score begins in it."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    return order, np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]][: len(ordered)])


def _by_score(
    weights: Floats, positive: Bools, order: NDArray[np.intp], starts: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """The weights of positive rows and of the others at each distinct score, both of shape (d, distinct)."""
    ordered, high = weights[:, order], positive[order]
    if not len(order):
        return ordered, ordered
    return np.add.reduceat(ordered * high, starts, axis=1), np.add.reduceat(ordered * ~high, starts, axis=1)


def _descending(scores: Floats, positive: Bools) -> tuple[Floats, Floats, Floats]:
    """True and false positives and the threshold, for ∞ and then each distinct score from the highest down."""
    order, starts = _ties(-scores)
    hits, others = _by_score(once(positive), positive, order, starts)
    return np.r_[0.0, hits[0].cumsum()], np.r_[0.0, others[0].cumsum()], np.r_[np.inf, scores[order][starts]]
