from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.review.evaluate.statistics import (
    auc,
    average_precision,
    best_threshold,
    counts,
    f_objective,
    flag_everything_f_of,
    precision_recall_f,
    recall_at_precision,
    roc,
    weighted_auc,
    weighted_average_precision,
)

SCORES = np.array([0.9, 0.8, 0.8, 0.6, 0.4, 0.4, 0.3, 0.1])
POSITIVE = np.array([True, True, False, True, False, True, False, False])
few_scores = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), st.booleans(), st.integers(0, 3)), min_size=1, max_size=12
)


def auc_by_pairs(scores, positive):
    pairs = [(a, b) for a, b in product(scores[positive], scores[~positive])]
    return sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs) if pairs else None


def average_precision_by_counting(scores, positive):
    if not positive.any():
        return None
    found, before = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        taken = scores >= threshold
        recall = positive[taken].sum() / positive.sum()
        found += (recall - before) * positive[taken].mean()
        before = recall
    return found


def test_precision_recall_and_f_are_those_of_counting():
    flagged = np.array([True, False, True, True, False, False, True, False])  # 2 of 4 positive, 2 false alarms
    found = precision_recall_f(flagged, POSITIVE)
    assert found == (0.5, 0.5, 0.5)
    more = np.array([True, True, True, True, False, True, True, False])  # all 4 positive, 2 false alarms
    assert precision_recall_f(more, POSITIVE) == pytest.approx((4 / 6, 1.0, 2 * (4 / 6) / (4 / 6 + 1)))
    precision, recall = 4 / 6, 1.0
    assert precision_recall_f(more, POSITIVE, beta=2).f == pytest.approx(
        5 * precision * recall / (4 * precision + recall)
    )


def test_what_has_no_value_is_none():
    nothing, none = np.zeros(8, bool), np.zeros(0, bool)
    assert precision_recall_f(nothing, POSITIVE) == (None, 0.0, 0.0)
    assert precision_recall_f(POSITIVE, nothing) == (0.0, None, None)
    assert precision_recall_f(none, none) == (None, None, None)
    empty = np.zeros(0)
    for scores, positive in ((SCORES, nothing), (SCORES, ~nothing), (empty, none)):
        assert auc(scores, positive) is None
        assert roc(scores, positive) is None
    assert average_precision(SCORES, nothing) is None
    assert average_precision(empty, none) is None
    assert average_precision(SCORES, ~nothing) == 1.0
    assert best_threshold(SCORES, nothing, f_objective(1)) is None
    assert best_threshold(empty, none, f_objective(1)) is None


def test_the_auc_counts_pairs_and_ties_one_half():
    assert auc(SCORES, POSITIVE) == pytest.approx(auc_by_pairs(SCORES, POSITIVE))
    assert auc(np.zeros(8), POSITIVE) == 0.5
    assert auc(POSITIVE * 1.0, POSITIVE) == 1.0
    assert auc(-1.0 * POSITIVE, POSITIVE) == 0.0


@given(few_scores)
def test_weights_are_repetitions(rows):
    scores, positive, times = (np.array(values) for values in zip(*rows, strict=True))
    repeated, those = np.repeat(scores, times), np.repeat(positive, times)
    weights = np.stack([times, np.ones(len(times))]).astype(float)
    for weighted, by_counting in (
        (weighted_auc, auc_by_pairs),
        (weighted_average_precision, average_precision_by_counting),
    ):
        first, second = weighted(scores, positive)(weights)[:, 0]
        for value, expected in ((first, by_counting(repeated, those)), (second, by_counting(scores, positive))):
            assert np.isnan(value) if expected is None else value == pytest.approx(expected)
    c = counts(np.array([scores > 0.4]).T, positive, weights)
    flagged = repeated > 0.4
    assert [cell[0, 0] for cell in c] == [
        (flagged & those).sum(),
        (flagged & ~those).sum(),
        (~flagged & those).sum(),
        (~flagged & ~those).sum(),
    ]


@given(few_scores)
def test_the_curve_goes_from_nothing_to_everything_and_encloses_the_auc(rows):
    scores, positive, _ = (np.array(values) for values in zip(*rows, strict=True))
    curve = roc(scores, positive)
    if curve is None:
        assert len(set(positive.tolist())) == 1
        return
    assert (curve.fpr[0], curve.tpr[0], curve.thresholds[0]) == (0, 0, np.inf)
    assert (curve.fpr[-1], curve.tpr[-1]) == (1, 1)
    for x, y, threshold in zip(*curve, strict=True):
        flagged = scores >= threshold
        assert x == pytest.approx(flagged[~positive].mean())
        assert y == pytest.approx(flagged[positive].mean())
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(auc_by_pairs(scores, positive))


def test_points_on_a_straight_line_are_left_out_of_the_curve():
    assert len(roc(np.arange(10.0), np.arange(10) >= 5).fpr) == 3


def test_flagging_everything_has_recall_one_and_the_share_as_precision():
    flagged = np.zeros((8, 1), bool)
    f = flag_everything_f_of(counts(flagged, POSITIVE, np.ones((1, 8))), 2)[0, 0]
    assert f == pytest.approx(5 * 0.5 * 1 / (4 * 0.5 + 1))


@pytest.mark.parametrize("beta", [1.0, 2.0])
def test_the_best_threshold_is_the_one_that_trying_them_all_finds(beta):
    best = best_threshold(SCORES, POSITIVE, f_objective(beta))
    tried = {t: precision_recall_f(t <= SCORES, POSITIVE, beta).f for t in SCORES}
    assert best.value == pytest.approx(max(tried.values()))
    assert best.threshold == max(t for t, f in tried.items() if f == pytest.approx(best.value))


def test_recall_at_a_precision_takes_no_threshold_below_it():
    assert best_threshold(SCORES, POSITIVE, recall_at_precision(0.9)) == (0.9, 0.25)
    assert best_threshold(SCORES, POSITIVE, recall_at_precision(0.6)) == (0.4, 1.0)  # 4 of 6
    assert best_threshold(-SCORES, POSITIVE, recall_at_precision(0.9)) is None
