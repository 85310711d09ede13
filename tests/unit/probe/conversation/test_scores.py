from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.probe.conversation.scores import lscore, mscore, wscore

SCORES = st.lists(st.floats(0, 5), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("scores", "n", "expected"),
    [
        ([1, 5], 3, 3.0),  # (3·1 + 2·5 + 1·5) / 6
        ([4], 1, 4.0),
        ([5], 3, 5.0),
        ([2], 4, 2.0),  # the last score stands for the turns that were not needed
        ([1, 2, 3], 3, 10 / 6),  # (3·1 + 2·2 + 1·3) / 6: σ of full length, nothing to fill
        ([0, 5], 2, 5 / 3),  # not sure counts as 0: (2·0 + 1·5) / 3
        ([0, 0, 0], 3, 0.0),
        ([1, 3, 5], 5, 47 / 15),  # (5·1 + 4·3 + 3·5 + 2·5 + 1·5) / 15
    ],
)
def test_wscore_by_hand(scores, n, expected):
    assert wscore(scores, n) == pytest.approx(expected)


def test_without_scores_there_are_none():
    assert (wscore([], 3), lscore([]), mscore([])) == (None, None, None)


def test_lscore_counts_turns_and_mscore_is_the_best():
    assert (lscore([1, 5, 2]), mscore([1, 5, 2])) == (3, 5)


def test_more_scores_than_turns_are_refused():
    with pytest.raises(ValueError, match="3 scores of at most 2 turns"):
        wscore([1, 2, 3], 2)


@given(SCORES, st.integers(0, 5))
def test_wscore_lies_between_the_worst_and_the_best(scores, more):
    value = wscore(scores, len(scores) + more)
    assert min(scores) - 1e-9 <= value <= max(scores) + 1e-9


@given(SCORES, st.integers(0, 5), st.data())
def test_a_better_turn_never_makes_wscore_worse(scores, more, data):
    at = data.draw(st.integers(0, len(scores) - 1))
    better = [*scores[:at], 5.0, *scores[at + 1 :]]
    n = len(scores) + more
    assert wscore(better, n) >= wscore(scores, n) - 1e-9


@given(st.integers(1, 8))
def test_right_at_once_is_worth_5_and_right_later_less(n):
    assert wscore([5], n) == pytest.approx(5)
    values = [wscore([1] * wrong + [5], n) for wrong in range(n)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == n
