from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.review.calibrate.logistic import fit_logistic, log_loss, probabilities


def drawn(count=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 3))
    odds = 0.3 + x @ np.array([1.5, -0.7, 0.0])
    return x, rng.random(count) < probabilities(odds)


def free(x):
    return {"offset": np.zeros(len(x)), "signs": np.zeros(x.shape[1])}


def test_at_the_minimum_no_weight_pulls():
    x, y = drawn()
    penalty = np.array([2.0, 5.0, 9.0])
    found = fit_logistic(x, y, penalty=penalty, **free(x))
    wrong = probabilities(found.log_odds(x, np.zeros(len(x)))) - y
    np.testing.assert_allclose(x.T @ wrong + penalty * found.weights, 0, atol=1e-3)
    assert wrong.sum() == pytest.approx(0, abs=1e-3)


def test_weights_come_near_those_that_made_the_labels():
    x, y = drawn(20_000)
    found = fit_logistic(x, y, penalty=np.full(3, 1e-6), **free(x))
    np.testing.assert_allclose([found.bias, *found.weights], [0.3, 1.5, -0.7, 0.0], atol=0.08)


def test_a_penalty_draws_weights_to_nothing_and_leaves_the_share():
    x, y = drawn()
    found = fit_logistic(x, y, penalty=np.full(3, 1e9), **free(x))
    np.testing.assert_allclose(found.weights, 0, atol=1e-6)
    assert probabilities(np.array([found.bias]))[0] == pytest.approx(y.mean(), abs=1e-4)


def test_what_the_offset_says_already_is_not_said_again():
    x, y = drawn()
    found = fit_logistic(x, y, penalty=np.full(3, 1e-6), **free(x))
    again = fit_logistic(x, y, offset=found.log_odds(x, np.zeros(len(x))), penalty=np.full(3, 1e-6), signs=np.zeros(3))
    np.testing.assert_allclose([again.bias, *again.weights], 0, atol=1e-3)


@pytest.mark.parametrize(("signs", "expected"), [([-1, 0, 0], (True, False)), ([1, 1, 0], (False, True))])
def test_a_weight_with_the_wrong_sign_is_nothing(signs, expected):
    x, y = drawn()
    found = fit_logistic(x, y, offset=np.zeros(len(x)), penalty=np.ones(3), signs=np.array(signs, float))
    assert (found.weights[0] == 0, found.weights[1] == 0) == expected


def test_labels_that_a_line_tells_apart_give_finite_weights():
    x = np.linspace(-1, 1, 50)[:, None]
    found = fit_logistic(x, x[:, 0] > 0, offset=np.zeros(50), penalty=np.ones(1), signs=np.zeros(1))
    assert 0 < found.weights[0] < 50


@given(st.lists(st.floats(-800, 800), min_size=1), st.booleans())
def test_no_log_odds_overflow(odds, outcome):
    values = np.array(odds)
    assert ((probabilities(values) >= 0) & (probabilities(values) <= 1)).all()
    assert np.isfinite(log_loss(values, np.full(len(values), outcome)))
