"""The rank of a score among usual scores: by hand, with ties and odd numbers, and in which reference it is taken."""

from __future__ import annotations

from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.reference import ALPHA, Reference, References, is_flagged, rank_words, ranks
from monitor.core.model import Probabilities
from tests.factories.answers import an_assessment

FOUR = np.asarray([0.1, 0.2, 0.2, 0.7], dtype=np.float32)


def a_reference(scores=FOUR, **over):
    known = {
        "hash": "aa",
        "app": "support-bot",
        "model": "",
        "topic": "",
        "profile_hash": "0123456789abcdef",
        "embedding_model": "hash/64",
        "scores": np.sort(np.asarray(scores, dtype=np.float32)),
    }
    return Reference(**{**known, **over})


def scored(score, **over):
    probabilities = Probabilities(grounded=1 - score, refusal=0.0, self_generated=score)
    return an_assessment(probabilities=probabilities, **over)


def ranked(references, *assessments):
    return [(a.rank, a.reference) for a in References(references).rank(assessments)]


@pytest.mark.parametrize(
    ("score", "rank"),
    [(0.0, 5 / 5), (0.1, 5 / 5), (0.15, 4 / 5), (0.2, 4 / 5), (0.3, 2 / 5), (0.7, 2 / 5), (0.8, 1 / 5), (1.0, 1 / 5)],
)
def test_ranks_by_hand(score, rank):
    """(1 + how many of .1, .2, .2, .7 are at least as high) / 5; a tie counts as at least as high."""
    assert ranks(FOUR, [score]).tolist() == [rank]


def test_a_score_that_is_no_number_has_no_rank():
    found = ranks(FOUR, [nan, 0.8]).tolist()
    assert isnan(found[0])
    assert found[1] == 0.2
    assert ranked([a_reference()], scored(nan)) == [(None, None)]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=60), st.floats(0, 1, width=32))
def test_ranks_are_those_of_the_formula(scores, score):
    reference = np.sort(np.asarray(scores, dtype=np.float32))
    expected = (1 + sum(one >= score for one in scores)) / (len(scores) + 1)
    assert ranks(reference, [score]).tolist() == [expected]


def test_a_score_is_compared_as_it_is_stored():
    """A REAL does not hold .3: as a double it would be lower than the stored score that equals it."""
    assert ranked([a_reference([0.3])], scored(0.3)) == [(1.0, "aa")]


def test_about_alpha_of_exchangeable_answers_are_flagged():
    scores = np.random.default_rng(3).beta(0.3, 2.0, 4_000)
    flagged = [is_flagged(rank) for rank in ranks(a_reference(scores[:2_000]).scores, scores[2_000:]).tolist()]
    assert abs(np.mean(flagged) - ALPHA) < 4 * np.sqrt(ALPHA * (1 - ALPHA) * (1 / 2_000 + 1 / 2_000))


def test_the_reference_of_the_topic_counts_before_that_of_all_topics():
    references = [a_reference(), a_reference([0.9] * 3, topic="billing", hash="bb")]
    billed, other, none = (
        scored(0.8, tags={"topic": "billing"}),
        scored(0.8, tags={"topic": "other"}),
        scored(0.8, tags={"lang": "en"}),
    )
    assert ranked(references, other, billed, none) == [(0.2, "aa"), (1.0, "bb"), (0.2, "aa")]


@pytest.mark.parametrize(
    "over", [{"app": "other"}, {"model": "large"}, {"profile_hash": "ff"}, {"embedding_model": "other/3"}]
)
def test_answers_of_another_app_model_profile_or_embedder_have_no_rank(over):
    assert ranked([a_reference()], scored(0.8, **over)) == [(None, None)]
    assert ranked([], scored(0.8)) == [(None, None)]


def test_nothing_else_of_an_assessment_changes():
    given_ = [scored(0.8, id=f"q-{n}", app="other" if n % 2 else "support-bot") for n in range(6)]
    found = References([a_reference()]).rank(given_)
    assert [a.interaction.id for a in found] == [a.interaction.id for a in given_]
    assert [a for a in found if a.rank is None] == given_[1::2]


@pytest.mark.parametrize(
    ("rank", "words"),
    [
        (None, "no reference period is frozen for this app, so the profile alone decides"),
        (1.0, "usual for this app: rank 1.00 of 1"),
        (0.11, "usual for this app: rank 0.11 of 1"),
        (0.1, "rarer than 90 in 100 of this app's usual answers"),
        (0.02, "rarer than 98 in 100 of this app's usual answers"),
        (0.0199999, "rarer than 98 in 100 of this app's usual answers"),
        (0.002, "rarer than 998 in 1,000 of this app's usual answers"),
        (1 / 5_001, "rarer than 999 in 1,000 of this app's usual answers"),
    ],
)
def test_a_rank_in_words(rank, words):
    assert rank_words(rank) == words


def test_the_flag_is_the_same_for_a_rank_read_from_a_real_column():
    assert is_flagged(float(np.float32(0.1)))
    assert not is_flagged(0.1001)
    assert not is_flagged(None)
