from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.probe.agreement.coefficients import Agreement, agreement, mean_ranks, pearson, table, weighted_kappa

scores = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30)


def test_equal_scores_agree_wholly():
    assert agreement([1, 3, 5], [1, 3, 5]) == Agreement(count=3, pearson=1.0, spearman=1.0, kappa=1.0, bias=0.0)


def test_pearson_by_hand():
    # Means 2 and 3: products (-1)(-2) + 0·1 + 1·1 = 3; squares 2 and 4 + 1 + 1 = 6.
    assert pearson([1, 2, 3], [1, 4, 4]) == pytest.approx(3 / sqrt(12))


def test_spearman_by_hand_with_ties():
    # Ranks 1, 2, 3 and 1, 2.5, 2.5, means 2: products 1 + 0 + 0.5; squares 2 and 1.5.
    assert mean_ranks([1, 4, 4]) == [1.0, 2.5, 2.5]
    assert agreement([1, 2, 3], [1, 4, 4]).spearman == pytest.approx(1.5 / sqrt(3))


def test_mean_ranks_of_several_ties():
    assert mean_ranks([5, 0, 5, 2, 0]) == [4.5, 1.5, 4.5, 3.0, 1.5]
    assert mean_ranks([]) == []


def test_weighted_kappa_by_hand():
    # Observed: (0 + 4 + 1) / 3. By chance, all 9 pairs of {1, 2, 3} with {1, 4, 4}: 1 gives 0 9 9, 2 gives 1 4 4, and 3
    # gives 4 1 1; 33 / 9.
    assert weighted_kappa([1, 2, 3], [1, 4, 4]) == pytest.approx(1 - (5 / 3) / (33 / 9))


def test_weighted_kappa_is_below_0_where_raters_disagree_more_than_by_chance():
    assert weighted_kappa([1, 5], [5, 1]) == pytest.approx(1 - 16 / 8)


def test_bias_is_the_judge_less_the_person():
    assert agreement([5, 4, 2.5], [3, 4, 1]).bias == pytest.approx((2 + 0 + 1.5) / 3)


def test_a_constant_shift_leaves_the_order_and_lowers_kappa():
    found = agreement([2, 3, 4], [1, 2, 3])
    assert (found.pearson, found.spearman, found.bias) == (pytest.approx(1.0), pytest.approx(1.0), 1.0)
    assert found.kappa == pytest.approx(1 - 1 / (2 / 3 + 2 / 3 + 1))


def test_nothing_is_defined_without_answers():
    assert agreement([], []) == Agreement(
        count=0, pearson=None, spearman=None, kappa=None, bias=None, undefined="there are no such answers"
    )


def test_correlations_are_undefined_where_one_side_gives_one_score_throughout():
    found = agreement([4, 4, 4], [1, 2, 3])
    assert (found.pearson, found.spearman) == (None, None)
    assert found.kappa == pytest.approx(0.0)  # no better than chance
    assert agreement([0.1, 0.1, 0.1], [0.1, 0.1, 0.1]).kappa is None


@pytest.mark.parametrize(
    ("judge", "human", "why"),
    [
        ([3], [4], "there is one such answer only"),
        ([4, 4], [1, 2], "one and the same score by the judge"),
        ([1, 2], [4, 4], "one and the same score by people"),
        ([4, 4], [4, 4], "one and the same score by the judge and by people"),
        ([1, 2], [1, 3], None),
    ],
)
def test_what_is_undefined_has_a_reason(judge, human, why):
    found = agreement(judge, human)
    assert found.undefined == why
    assert (None in {found.pearson, found.spearman, found.kappa}) == (why is not None)


def test_the_table_counts_people_by_row_and_the_judge_by_column():
    counts = table([5, 5, 4.5, 1.4, 0, 0], [5, 4, 4, 0.2, 0, 3])
    cells = {(row, column): n for row, line in enumerate(counts) for column, n in enumerate(line) if n}
    assert cells == {(5, 5): 1, (4, 5): 2, (1, 1): 1, (0, 0): 1, (3, 0): 1}
    assert [len(line) for line in counts] == [6] * 6


def test_lists_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="shorter"):
        agreement([1, 2], [1])


@given(scores)
def test_kappa_is_that_of_the_table_of_categories(pairs):
    table = np.zeros((6, 6))
    for given_score, human in pairs:
        table[given_score, human] += 1
    weights = (np.arange(6)[:, None] - np.arange(6)[None, :]) ** 2
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(pairs)
    found = weighted_kappa([a for a, _ in pairs], [b for _, b in pairs])
    if (weights * chance).sum() == 0:
        assert found is None
    else:
        assert found == pytest.approx(1 - (weights * table).sum() / (weights * chance).sum())
