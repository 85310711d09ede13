"""Compares a profile with people's labels of interactions that it has assessed. Pure numpy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from monitor.core.figures.proportions import wilson
from monitor.review.evaluate.bootstrap import bootstrap_over_groups
from monitor.review.evaluate.figures import XY, Figure, ReliabilityPoint
from monitor.review.evaluate.reliability import Bin, brier, ece, reliability
from monitor.review.evaluate.statistics import auc, roc, weighted_auc

ENOUGH, ENOUGH_OF_EACH = 30, 10  # labels in total, and of each kind: negative and grounded
_DRAWS, _SEED, _BINS = 300, 20_260_105, 10


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled interaction: P(negative), whether the verdict is negative, and whether the label is."""

    p_negative: float
    flagged: bool
    negative: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How a profile agrees with `rows` labelled interactions, `negative` of them labelled so; intervals of 95 %.

    `agree` is the share on which verdict and label agree about negative or not, `found` the recall of negatives,
    `right` the precision. `here` is the verdict's point on the ROC `curve`.
    """

    rows: int
    negative: int
    agree: Figure
    found: Figure
    right: Figure
    auc: Figure
    brier: float | None
    ece: float | None
    curve: tuple[XY, ...]
    here: XY
    bins: tuple[ReliabilityPoint, ...]


def enough(rows: int, negative: int) -> bool:
    """Whether there are enough labels, and enough of either kind, for the figures to mean something."""
    return rows >= ENOUGH and min(negative, rows - negative) >= ENOUGH_OF_EACH


def standing(rows: tuple[Row, ...]) -> Standing:
    """The figures for rows of both kinds.

    Raises:
        ValueError: all rows are negative, or none is.
    """
    p = np.array([row.p_negative for row in rows], np.float64)
    flagged = np.array([row.flagged for row in rows], bool)
    negative = np.array([row.negative for row in rows], bool)
    curve = roc(p, negative)
    if curve is None:
        raise ValueError("a ROC curve needs labels of both kinds")
    (bounds,) = bootstrap_over_groups(
        weighted_auc(p, negative), np.arange(len(rows)), _DRAWS, np.random.default_rng(_SEED)
    )
    hits, positives, flags = int((flagged & negative).sum()), int(negative.sum()), int(flagged.sum())
    others = len(rows) - positives
    low, high = (None, None) if bounds is None else bounds
    return Standing(
        rows=len(rows),
        negative=positives,
        agree=_share(int((flagged == negative).sum()), len(rows)),
        found=_share(hits, positives),
        right=_share(hits, flags),
        auc=Figure(value=auc(p, negative), low=low, high=high),
        brier=brier(p, negative),
        ece=ece(p, negative),
        curve=tuple(zip(curve.fpr.tolist(), curve.tpr.tolist(), strict=True)),
        here=((flags - hits) / others, hits / positives),
        bins=tuple(_points(reliability(p, negative, _BINS))),
    )


def _points(bins: Iterable[Bin]) -> Iterator[ReliabilityPoint]:
    """The bins that hold rows, with Wilson intervals."""
    for found in bins:
        if found.mean_probability is not None and found.observed is not None:
            low, high = wilson(round(found.observed * found.rows), found.rows)
            yield ReliabilityPoint(
                said=found.mean_probability, observed=found.observed, low=low, high=high, rows=found.rows
            )


def _share(matching: int, total: int) -> Figure:
    if not total:
        return Figure(value=None, reason="there are none")
    low, high = wilson(matching, total)
    return Figure(value=matching / total, low=low, high=high)
