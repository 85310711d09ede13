from __future__ import annotations

import numpy as np
import pytest

from monitor.assess.detect.claim_windows import ClaimInputs, Input, UnitGroup, conclude
from monitor.assess.detect.detection import DetectedSpan


def ids(*numbers):
    return np.array(numbers, np.int32)


def claim_inputs(*groups, windows=1, joined=True):
    return ClaimInputs(
        groups=tuple(UnitGroup(units=tuple(units), tokens=ids(*range(len(units)))) for units in groups),
        windows=tuple((ids(7, 8), ids(number)) for number in range(windows)),
        joined=joined,
    )


def said(*values):
    return [np.array(row, np.float32) for row in values]


def span(start, end, probability):
    return DetectedSpan(start=start, end=end, probability=pytest.approx(probability))


def test_every_group_meets_every_window():
    both = claim_inputs([(0, 2)], [(3, 5), (5, 6)], windows=2)
    assert both.count == len(both.inputs) == 4
    assert [it.second.tolist() for it in both.inputs] == [[0], [0], [0, 1], [0, 1]]
    assert [np.concatenate(it.first).tolist() for it in both.inputs] == [[7, 8, 0], [7, 8, 1]] * 2


def test_an_inputs_size_is_that_of_both_sequences():
    assert Input(first=(ids(1, 2), ids(), ids(3)), second=ids(4, 5)).size == 5


def test_the_answer_is_as_bad_as_its_worst_unit():
    found = conclude(claim_inputs([(0, 3), (4, 7), (8, 9)]), said([0.2, 0.4, 0.1]))
    assert found.score == pytest.approx(0.4)
    assert found.spans == ()


def test_a_unit_is_carried_where_any_window_carries_it():
    found = conclude(claim_inputs([(0, 3), (4, 7)], windows=2), said([0.9, 0.8], [0.1, 0.7]))
    assert found.score == pytest.approx(0.7)
    assert found.spans == (span(4, 7, 0.7),)


def test_groups_are_told_apart():
    found = conclude(claim_inputs([(0, 3)], [(4, 7)], windows=2), said([0.9], [0.1], [0.6], [0.8]))
    assert found.spans == (span(4, 7, 0.6),)


def test_tokens_in_a_row_make_one_span_with_the_highest_probability():
    units = [(0, 3), (4, 7), (8, 9), (10, 12)]
    found = conclude(claim_inputs(units), said([0.6, 0.9, 0.2, 0.7]))
    assert found.spans == (span(0, 7, 0.9), span(10, 12, 0.7))


def test_tokens_on_both_sides_of_a_cut_make_one_span():
    assert conclude(claim_inputs([(0, 3)], [(4, 7)]), said([0.6], [0.9])).spans == (span(0, 7, 0.9),)


def test_sentences_in_a_row_stay_apart():
    found = conclude(claim_inputs([(0, 3)], [(4, 7)], joined=False), said([0.6], [0.9]))
    assert found.spans == (span(0, 3, 0.6), span(4, 7, 0.9))


def test_tokens_of_one_character_share_a_span():
    found = conclude(claim_inputs([(0, 1), (0, 1), (0, 1)]), said([0.9, 0.1, 0.8]))
    assert found.spans == (span(0, 1, 0.9),)


def test_one_half_is_not_over_one_half():
    assert conclude(claim_inputs([(0, 3)]), said([0.5])).spans == ()


def test_units_without_a_character_do_not_count():
    found = conclude(claim_inputs([(0, 3), (3, 3)]), said([0.3, 0.9]))
    assert found.score == pytest.approx(0.3)


def test_a_missing_number_gives_no_detection():
    assert conclude(claim_inputs([(0, 3), (4, 7)]), said([0.3, np.nan])) is None
    assert conclude(claim_inputs([(0, 3)], windows=2), said([0.3], [np.nan])) is None
