"""How a profile stands to labels, re-derived by hand."""

from __future__ import annotations

import pytest

from monitor.review.evaluate.profile_agreement import Row, enough, standing

# Probability, verdict, label: three of four negative ones are found, one of four flagged is none.
ROWS = tuple(
    Row(p, flagged, negative)
    for p, flagged, negative in [
        (0.9, True, True),
        (0.8, True, True),
        (0.7, True, True),
        (0.4, False, True),
        (0.6, True, False),
        (0.3, False, False),
        (0.2, False, False),
        (0.1, False, False),
    ]
)


def test_figures_by_hand():
    its = standing(ROWS)
    assert (its.rows, its.negative) == (8, 4)
    assert its.agree.value == 6 / 8
    assert its.found.value == 3 / 4
    assert its.right.value == 3 / 4
    assert its.here == (1 / 4, 3 / 4)
    assert its.auc.value == 15 / 16  # of 16 pairs one is the wrong way round: .4 and .6
    squares = [0.1, 0.2, 0.3, 0.6, 0.6, 0.3, 0.2, 0.1]
    assert its.brier == pytest.approx(sum(x * x for x in squares) / 8)
    assert its.curve[0] == (0.0, 0.0)
    assert its.curve[-1] == (1.0, 1.0)
    assert its.agree.low < its.agree.value < its.agree.high


def test_each_bin_has_its_rows_and_interval():
    bins = standing(ROWS).bins
    assert sum(found.rows for found in bins) == 8
    top = bins[-1]
    assert (top.said, top.observed, top.rows) == (0.9, 1.0, 1)
    assert top.low < 1.0 == top.high


def test_nothing_flagged_leaves_a_figure_without_value():
    its = standing((Row(0.4, flagged=False, negative=True), Row(0.1, flagged=False, negative=False)))
    assert its.right.value is None
    assert its.right.reason


def test_one_kind_alone_has_no_curve():
    with pytest.raises(ValueError, match="both kinds"):
        standing((Row(0.4, flagged=False, negative=True),))


@pytest.mark.parametrize(
    ("rows", "negative", "said"), [(30, 10, True), (29, 10, False), (30, 9, False), (30, 20, True), (30, 21, False)]
)
def test_how_many_labels_are_enough(rows, negative, said):
    assert enough(rows, negative) is said
