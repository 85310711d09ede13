"""The interval with a judge between scores and people: by hand, and as the parts of it that are known."""

from __future__ import annotations

import pytest

from monitor.core.figures.proportions import wilson
from monitor.review.rates import stratified
from monitor.review.rates.judged import Cell, JudgedStratum, estimate, interval
from monitor.review.rates.stratified import Stratum


def cell(judged, labels, positive, expected=0.1):
    return Cell(judged=judged, labels=labels, positive=positive, expected=expected)


def test_by_hand():
    """docs/quality/rates.md: 1,000 answers, the judge has read 100 and contradicts 20; 6 of 10 and 1 of 20 labels."""
    strata = [JudgedStratum(answers=1_000, cells=[cell(20, 10, 6), cell(80, 20, 1)])]
    assert estimate(strata) == pytest.approx(0.2 * 0.6 + 0.8 * 0.05)
    smooth = [6.2 / 12, 1.2 / 22]
    mean = 0.2 * smooth[0] + 0.8 * smooth[1]
    variance = mean * (1 - mean) / 100 * 0.9
    variance += 0.04 * smooth[0] * (1 - smooth[0]) * 0.5 / 10 + 0.64 * smooth[1] * (1 - smooth[1]) * 0.75 / 20
    n = mean * (1 - mean) / variance
    worth = Stratum(answers=10**15, labels=n, positive=0.16 * n)
    assert interval(strata) == pytest.approx(stratified.interval([worth]))
    assert interval(strata) == pytest.approx((0.0735, 0.2951), abs=1e-4)
    assert interval(strata)[1] == pytest.approx(wilson(0.16 * n, n)[1])


def test_a_judge_that_always_says_the_same_leaves_a_random_sample_of_labels():
    """All labelled: what is unknown is only what the judge's random sample leaves unknown."""
    lower, upper = interval([JudgedStratum(answers=10**9, cells=[cell(200, 200, 10)])])
    assert (lower, upper) == pytest.approx(wilson(10, 200), abs=0.006)


def test_cells_without_labels_widen_the_interval_by_their_weight():
    known = [cell(50, 20, 0)]
    one = JudgedStratum(answers=500, cells=[*known, cell(50, 0, 0)])
    assert estimate([one]) is None
    assert interval([one])[1] >= 0.5
    unread = JudgedStratum(answers=500, cells=[])
    assert estimate([JudgedStratum(answers=500, cells=known), unread]) is None
    assert interval([JudgedStratum(answers=500, cells=known), unread])[1] >= 0.5


def test_without_answers_nothing_is_known():
    assert estimate([]) is None
    assert interval([]) == (0.0, 1.0)
