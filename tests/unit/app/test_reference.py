"""How later scores rank in a reference: shares by hand, and the range that chance explains."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.app.reference import COMPARED_AT, LaterScores, ShareAtRank, compare, left_out_of, quantiles
from monitor.store.reference.frozen import FrozenReference, frozen_of
from tests.factories.answers import NOON


def frozen(scores, **over):
    known = {
        "app": "bot",
        "model": "",
        "version": 1,
        "topic": "",
        "since": NOON,
        "until": NOON,
        "frozen_at": NOON,
        "frozen_by": "ann",
        "profile_hash": "0123456789abcdef",
        "embedding_model": "hash/64",
        "answers": 999,
        "drawn": 999,
        "labelled": 0,
        "repeated": 0,
        "other_profile": 0,
        "scores": tuple(sorted(float(str(np.float32(score))) for score in scores)),
    }
    return FrozenReference(**{**known, **over})


def test_shares_by_hand():
    """Of 999 scores .001 to .999: a later .995 has (1 + 5)/1000, .96 has .041, .91 has .091, .5 has .5."""
    compared = compare(frozen(n / 1_000 for n in range(1, 1_000)), LaterScores(scores=[0.995, 0.96, 0.91, 0.5]))
    assert [(one.rank, one.share) for one in compared.shares] == [(0.01, 0.25), (0.05, 0.5), (0.1, 0.75)]
    assert all(one.low <= one.rank <= one.high for one in compared.shares)


@pytest.mark.parametrize(("share", "words"), [(0.2, "more than"), (0.1, "as expected"), (0.01, "fewer than")])
def test_what_chance_explains(share, words):
    assert ShareAtRank(rank=0.1, share=share, low=0.08, high=0.12).words.startswith(words)


def test_the_range_holds_in_19_of_20_comparisons_of_unchanged_answers():
    """Four standard errors of 400 comparisons around .95."""
    rng, inside = np.random.default_rng(7), dict.fromkeys(COMPARED_AT, 0)
    for _ in range(400):
        earlier = frozen(rng.beta(0.4, 2.0, 1_000))
        for one in compare(earlier, LaterScores(scores=rng.beta(0.4, 2.0, 700).tolist())).shares:
            inside[one.rank] += one.low <= one.share <= one.high
    for rank in COMPARED_AT[1:]:
        assert abs(inside[rank] / 400 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 400)


def answers(rng, number, bad):
    """Scores of as many answers, a share of which is bad: usual ones first."""
    good = rng.binomial(number, 1 - bad)
    return rng.beta(0.4, 2.0, good).tolist(), rng.beta(9.0, 1.0, number - good).tolist()


def says(earlier, later, words):
    return np.array([words in one.words for one in compare(earlier, later).shares])


@pytest.mark.parametrize("labelled_later", [False, True])
def test_bad_answers_that_were_labelled_before_the_freeze_are_allowed_for(labelled_later):
    """4 % of 1,000 answers are bad, and were left out: the same level is no change, twice as many bad ones are."""
    rng, same, doubled = np.random.default_rng(8), np.zeros(len(COMPARED_AT)), 0
    for _ in range(200):
        usual, bad = answers(rng, 1_000, 0.04)
        earlier = frozen(usual, drawn=1_000, labelled=len(bad))
        usual, bad = answers(rng, 1_000, 0.04)
        later = LaterScores(scores=usual, left_out=len(bad)) if labelled_later else LaterScores(scores=usual + bad)
        same += says(earlier, later, "than chance explains")
        usual, bad = answers(rng, 1_000, 0.08)
        doubled += says(earlier, LaterScores(scores=usual + bad), "more than").any()
    assert (same <= 200 * 0.05).all()
    assert doubled >= 200 * 0.75


def test_of_a_large_draw_the_labels_count_as_far_as_its_scores_are_kept():
    """5,000 of 20,000 usual answers were kept, and 200 labelled ones left out."""
    made = frozen([0.1] * 5_000, drawn=20_300, labelled=200, repeated=60, other_profile=40)
    assert left_out_of(made) == 50
    assert left_out_of(frozen([0.1] * 999)) == 0


def test_the_digest_is_over_everything_and_the_same_for_a_row_that_was_read():
    one = frozen([0.1, 0.2, 1e-7, 1.0])
    row = {**one.row(), "scores": [float(np.float32(score)) for score in one.scores]}  # as a binary protocol gives them
    assert frozen_of(row) == one
    assert row["hash"] == row["sha256"][:16] == one.hash
    others = [frozen([0.1, 0.2, 1e-7, 0.5]), frozen(one.scores, version=2), frozen(one.scores, topic="x")]
    assert len({other.sha256 for other in [one, *others]}) == 4


def test_a_score_that_is_no_number_has_a_digest_too():
    """Somebody may write one into the database: it must be found, and not stop the reader."""
    assert frozen([0.1]).sha256 != frozen([float("nan")]).sha256


def test_quantiles_by_hand():
    assert quantiles([n / 100 for n in range(101)]) == {"0.1": 0.1, "0.5": 0.5, "0.9": 0.9, "0.95": 0.95, "0.99": 0.99}
