"""What the judge says, and what its word weighs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.judge.word import MOST, PRIOR, LabelledWord, Says, WordWeights, learnt

words = st.lists(
    st.builds(
        LabelledWord,
        log_odds=st.floats(-14, 14),
        says=st.sampled_from(Says),
        made_up=st.booleans(),
    ),
    max_size=40,
)


def labelled(says, made_up, others=0, *, log_odds=0.0):
    def several(label, count):
        return [LabelledWord(log_odds=log_odds, says=says, made_up=label)] * count

    return several(True, made_up) + several(False, others)


@pytest.mark.parametrize(
    ("score", "says"),
    [(None, None), (0.0, Says.UNSUPPORTED), (0.49, Says.UNSUPPORTED), (0.5, None), (0.79, None), (0.8, Says.SUPPORTED)],
)
def test_a_score_between_the_two_limits_says_nothing(score, says):
    assert Says.by(score) is says


def test_without_labels_a_word_is_worth_odds_of_three_to_one():
    found = learnt([])
    assert found == WordWeights(unsupported=pytest.approx(math.log(3)), supported=pytest.approx(-math.log(3)), labels=0)
    assert (found.of(Says.UNSUPPORTED), found.of(Says.SUPPORTED)) == (found.unsupported, found.supported)


def test_the_weight_solves_the_equation_of_its_docstring():
    found = learnt(labelled(Says.UNSUPPORTED, 12, 8, log_odds=-0.5)).unsupported
    excess = 12 - 20 / (1 + math.exp(0.5 - found))
    assert excess == pytest.approx((found - PRIOR) / 0.25, abs=1e-6)


@given(words)
def test_a_weight_never_points_the_other_way_nor_exceeds_the_most(cases):
    found = learnt(cases)
    assert 0 <= found.unsupported <= MOST
    assert -MOST <= found.supported <= 0
    assert found.labels == len(cases)


def test_a_judge_that_says_what_the_score_knows_already_loses_its_weight():
    """Nine in ten are made up, as the score said before the judge spoke."""
    assert learnt(labelled(Says.UNSUPPORTED, 900, 100, log_odds=math.log(9))).unsupported < 0.1


def test_many_labels_outweigh_the_prior_and_few_do_not():
    few, many = (learnt(labelled(Says.SUPPORTED, 0, count)).supported for count in (2, 200))
    assert -1.5 < few < -PRIOR
    assert many < -2


def test_the_weights_are_those_of_the_answers_however_these_are_chosen_for_a_label():
    rng = np.random.default_rng(20261123)
    log_odds = rng.normal(-1, 1.5, 40_000)
    made_up = rng.random(40_000) < 1 / (1 + np.exp(-log_odds))
    unsupported = rng.random(40_000) < np.where(made_up, 0.8, 0.1)
    chosen = rng.random(40_000) < np.where(unsupported, 0.9, 0.1) * np.where(np.abs(log_odds) < 1, 1.0, 0.2)
    found = learnt(
        [
            LabelledWord(log_odds=float(x), says=Says.UNSUPPORTED if u else Says.SUPPORTED, made_up=bool(y))
            for x, u, y in zip(log_odds[chosen], unsupported[chosen], made_up[chosen], strict=True)
        ]
    )
    assert found.unsupported == pytest.approx(math.log(0.8 / 0.1), abs=0.2)
    assert found.supported == pytest.approx(math.log(0.2 / 0.9), abs=0.2)
