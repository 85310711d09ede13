from __future__ import annotations

import numpy as np
import pytest

from monitor.review.evaluate.reliability import brier, ece, expected_ece_of_perfect, reliability, weighted_observed

SAID = np.array([0.05, 0.3, 0.35, 0.39, 0.8, 1.0])
CAME = np.array([False, True, False, False, True, True])


def test_the_brier_score_is_the_mean_squared_error():
    by_hand = (0.05**2 + 0.7**2 + 0.35**2 + 0.39**2 + 0.2**2 + 0) / 6
    assert brier(SAID, CAME) == pytest.approx(by_hand)


def test_bins_hold_their_lower_bound_and_the_last_one_holds_one():
    bins = reliability(SAID, CAME)
    assert [b.rows for b in bins] == [1, 0, 0, 3, 0, 0, 0, 0, 1, 1]
    assert bins[3] == (0.3, 0.4, 3, pytest.approx((0.3 + 0.35 + 0.39) / 3), pytest.approx(1 / 3))
    assert bins[1].mean_probability is None
    assert bins[1].observed is None
    assert [b.rows for b in reliability(np.arange(10) / 10, np.zeros(10, bool))] == [1] * 10


def test_the_calibration_error_weighs_each_bins_gap_by_its_rows():
    by_hand = (0.05 + abs(0.3 + 0.35 + 0.39 - 1) + 0.2 + 0) / 6
    assert ece(SAID, CAME) == pytest.approx(by_hand)
    assert ece(SAID, CAME, bins=1) == pytest.approx(abs(SAID.mean() - 0.5))
    assert ece(np.array([0.0, 1.0]), np.array([False, True])) == 0.0


def test_a_perfect_probability_shows_a_gap_that_rows_make_small():
    def expected(rows):
        return expected_ece_of_perfect(np.full(rows, 0.5), 10, 400, np.random.default_rng(1))

    # one bin of a fair coin: E|mean - ½| = ½ for one row, and close to sqrt(2/π)·½/sqrt(n) for many
    assert expected(1) == 0.5
    assert expected(400) == pytest.approx(np.sqrt(2 / np.pi) * 0.5 / 20, rel=0.15)
    assert expected(400) == expected(400)
    assert expected_ece_of_perfect(np.array([0.0, 1.0]), 10, 100, np.random.default_rng(1)) == 0.0


def test_what_came_true_in_each_bin_follows_the_weights():
    weights = np.array([[1, 1, 1, 1, 1, 1], [0, 3, 1, 0, 1, 1]], float)
    plain, weighted = weighted_observed(SAID, CAME)(weights)
    assert plain[3] == pytest.approx(1 / 3)
    assert weighted[3] == 0.75
    assert np.isnan(plain[1])
    assert np.isnan(weighted[0])


def test_without_rows_nothing_has_a_value():
    none, came = np.zeros(0), np.zeros(0, bool)
    assert brier(none, came) is None
    assert ece(none, came) is None
    assert expected_ece_of_perfect(none, 10, 10, np.random.default_rng(0)) is None
    assert all(b.rows == 0 for b in reliability(none, came))
