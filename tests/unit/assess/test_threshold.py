"""The dynamic threshold, by hand and for any scores."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.threshold import ABOVE, HIGHEST, LOWEST, UNKNOWN, WEIGHT, Spread, dynamic_threshold, shrunk

PRIOR = Spread(mean=0.4, sd=0.2)
score = st.floats(0, 1)
spread = st.builds(Spread, mean=score, sd=st.floats(0, 0.5))


@pytest.mark.parametrize(
    ("scores", "mean", "variance"),
    [
        ([], 0.4, 0.04),
        # (0.95 + 10 * 0.4) / 11; (0 + 10 * 0.04 + 10 / 11 * 0.55²) / 11
        ([0.95], 4.95 / 11, (0.4 + 10 / 11 * 0.3025) / 11),
        # mean 0.5, squares 0.16 + 0 + 0.16; 6 of the 13 hundredths by the distance of the means
        ([0.1, 0.5, 0.9], 5.5 / 13, (0.32 + 0.4 + 30 / 13 * 0.01) / 13),
        ([0.8] * 40, 36 / 50, (0 + 0.4 + 8 * 0.16) / 50),
    ],
)
def test_an_interaction_is_drawn_towards_its_app_as_if_ten_chunks_of_the_app_were_among_its_own(scores, mean, variance):
    found = shrunk(scores, PRIOR)
    assert (found.mean, found.sd) == (pytest.approx(mean), pytest.approx(sqrt(variance)))
    assert dynamic_threshold(scores, PRIOR) == pytest.approx(min(max(mean + ABOVE * sqrt(variance), LOWEST), HIGHEST))


@pytest.mark.parametrize("count", [1, 3, 40])
def test_chunks_that_are_all_good_are_kept_and_those_that_are_all_bad_are_not(count):
    assert dynamic_threshold([1.0] * count) <= 1
    assert dynamic_threshold([0.8] * count) <= 0.8
    assert dynamic_threshold([0.0] * count) > 0
    assert dynamic_threshold([0.2] * count) > 0.2


def test_two_groups_are_told_apart_with_three_chunks_and_with_forty():
    for scores in ([0.9, 0.1, 0.1], [0.9, 0.9, 0.1], [0.85] * 10 + [0.2] * 30):
        assert 0.2 < dynamic_threshold(scores) < 0.85


def test_an_app_whose_scores_are_low_has_a_lower_threshold():
    low, high = Spread(mean=0.2, sd=0.2), Spread(mean=0.6, sd=0.2)
    assert dynamic_threshold([0.5, 0.4, 0.3], low) < dynamic_threshold([0.5, 0.4, 0.3], high)


@given(st.lists(score, max_size=40), spread)
def test_the_spread_is_that_of_the_scores_pooled_with_the_prior_s(scores, prior):
    """Ten scores spread as the prior: five below its mean by its standard deviation, five above."""
    half = int(WEIGHT) // 2
    others = [prior.mean - prior.sd] * half + [prior.mean + prior.sd] * half
    pooled = np.array([*scores, *others])
    found = shrunk(scores, prior)
    assert found.mean == pytest.approx(pooled.mean(), abs=1e-9)
    assert found.sd == pytest.approx(pooled.std(), abs=1e-6)


@given(st.lists(score, max_size=40), spread)
def test_the_threshold_keeps_its_limits(scores, prior):
    assert LOWEST <= dynamic_threshold(scores, prior) <= HIGHEST


@given(st.lists(score, min_size=3, max_size=3), score, spread)
def test_with_three_chunks_one_score_moves_the_threshold_by_little(scores, other, prior):
    """The mean moves by at most 1/13, half the standard deviation by at most half the root of 10/169 and 3/13."""
    moved = abs(dynamic_threshold(scores, prior) - dynamic_threshold([*scores[:2], other], prior))
    assert moved <= 1 / 13 + ABOVE * sqrt(1 / 13) + 1e-9


def test_without_anything_known_the_prior_decides():
    assert dynamic_threshold([]) == pytest.approx(UNKNOWN.mean + ABOVE * UNKNOWN.sd)
