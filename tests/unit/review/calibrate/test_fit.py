from __future__ import annotations

import numpy as np
import pytest

from monitor.assess.score.features import FEATURES
from monitor.review.calibrate.fit import SIGNS, fit, folds, held_out, platt
from monitor.review.calibrate.logistic import log_loss, probabilities
from tests.factories.review.calibrate import NAMES, START, some_rows


def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("groups", [5, 23, 200])
def test_folds_keep_groups_together_and_are_of_like_size(groups):
    rows = some_rows(groups=groups)
    fold = folds(rows.groups, 5, rng())
    for group in np.unique(rows.groups):
        assert len(set(fold[rows.groups == group])) == 1
    sizes = np.bincount(fold, minlength=5)
    assert sizes.max() - sizes.min() <= 200 // groups


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (1.7, -0.4)])
def test_the_profile_says_what_the_fit_says(gaps, slope, shift):
    rows = some_rows(gaps=gaps)
    rows = rows.where(~np.isnan(rows.features[:, NAMES.index("grounding")]))
    fitted = fit(rows, rng(), strengths=(30.0,))
    groundedness = fitted.groundedness(START, 0.5, slope, shift)
    said = slope * fitted.log_odds(rows) + shift
    for values, odds in zip(rows.features, said, strict=True):
        row = {n: None if np.isnan(v) else float(v) for n, v in zip(NAMES, values, strict=True)}
        assert groundedness.probability(row) == pytest.approx(probabilities(np.array([odds]))[0], abs=1e-9)


def test_weights_have_the_signs_that_their_features_ask_for():
    rows = some_rows(400, noise=3.0)
    groundedness = fit(rows, rng()).groundedness(START, 0.5, 1.0, 0.0)
    assert {"grounding"} < set(groundedness.features)
    for name, weight in groundedness.features.items():
        assert weight.weight * SIGNS[name] >= 0


def test_every_feature_has_a_sign():
    assert set(SIGNS) == set(FEATURES)


def test_a_strong_penalty_keeps_the_blend_and_puts_its_probabilities_right():
    rows = some_rows()
    fitted = fit(rows, rng(), strengths=(1e9,))
    assert set(fitted.groundedness(START, 0.5, 1.0, 0.0).features) >= {"grounding"}
    np.testing.assert_allclose(fitted.model.weights[1:], 0, atol=1e-5)
    assert np.argsort(fitted.log_odds(rows)).tolist() == np.argsort(rows.prior).tolist()
    assert log_loss(fitted.log_odds(rows), rows.made_up) < log_loss(rows.prior, rows.made_up)


def test_the_penalty_is_the_one_that_does_best_on_unseen_groups():
    rows = some_rows(noise=2.0)
    chosen = fit(rows, rng(), strengths=(1.0, 1e6))
    fold = folds(rows.groups, 5, rng())
    losses = {s: log_loss(held_out(rows, fold, s), rows.made_up) for s in (1.0, 1e6)}
    assert losses[chosen.strength] == min(losses.values())


def test_log_odds_that_are_too_bold_are_put_right():
    generator = np.random.default_rng(2)
    true = generator.normal(size=5_000)
    y = generator.random(5_000) < probabilities(true)
    slope, shift = platt(3 * true + 1, y)
    assert slope == pytest.approx(1 / 3, abs=0.03)
    assert shift == pytest.approx(-1 / 3, abs=0.08)


def test_log_odds_that_point_the_wrong_way_are_left_alone():
    y = np.arange(100) >= 50
    assert platt(np.where(y, -5.0, 5.0), y) == (1.0, 0.0)
