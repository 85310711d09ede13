"""Vectors of sentences from the vectors of tokens, and the sentences that have one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.sentences import LONGEST, pooled, sentences_of, unit_rows

SPANS = [(0, 10), (11, 20), (22, 30)]


def summed(starts, spans, states=None):
    """The sums by the number of the sentence."""
    states = np.eye(len(starts)) if states is None else states
    numbers, sums = pooled(states.astype(np.float32), np.array(starts, np.int32), spans)
    return dict(zip(numbers.tolist(), sums.tolist(), strict=True))


def test_a_token_counts_for_the_sentence_that_it_stands_in():
    assert summed([0, 4, 11, 22, 29], SPANS) == {0: [1, 1, 0, 0, 0], 1: [0, 0, 1, 0, 0], 2: [0, 0, 0, 1, 1]}


def test_a_sentence_without_tokens_is_left_out():
    assert summed([0, 23], SPANS) == {0: [1, 0], 2: [0, 1]}


def test_a_token_between_two_sentences_counts_for_the_one_before():
    assert summed([20, 21, 22], SPANS) == {1: [1, 1, 0], 2: [0, 0, 1]}


def test_a_token_before_all_sentences_counts_for_the_first():
    assert summed([0, 3], [(2, 5)]) == {0: [1, 1]}


def test_a_token_that_a_cut_goes_through_counts_for_where_it_begins():
    assert summed([0, 9, 12], [(0, 10), (10, 15)]) == {0: [1, 1, 0], 1: [0, 0, 1]}


def test_the_windows_of_a_text_add_up_to_its_sentences():
    states = np.arange(12, dtype=np.float32).reshape(6, 2)
    starts = [0, 4, 11, 15, 22, 29]
    whole = summed(starts, SPANS, states)
    parts = [summed(starts[:3], SPANS, states[:3]), summed(starts[3:], SPANS, states[3:])]
    assert parts[0].keys() & parts[1].keys() == {1}  # cut in two by the windows
    assert whole == {
        number: np.sum([part[number] for part in parts if number in part], axis=0).tolist() for number in whole
    }


@given(st.lists(st.integers(0, 40), min_size=1, max_size=20).map(sorted), st.integers(1, 4))
def test_every_token_counts_once(starts, count):
    spans = [(10 * number, 10 * number + 9) for number in range(count)]
    found = summed(starts, spans)
    np.testing.assert_array_equal(np.sum(list(found.values()), axis=0), np.ones(len(starts)))
    for number, row in found.items():
        assert [min(start // 10, count - 1) == number for start in starts] == [bool(x) for x in row]


def test_rows_have_length_one_or_stay_zero():
    found = unit_rows(np.array([[3, 4], [0, 0], [0, -2], [1e-10, 0]], np.float32))
    assert found.dtype == np.float16
    np.testing.assert_allclose(found.astype(np.float32), [[0.6, 0.8], [0, 0], [0, -1], [1, 0]], atol=1e-3)
    assert unit_rows(np.zeros((0, 3), np.float32)).shape == (0, 3)


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_text_of_nothing_has_no_sentence(text):
    assert sentences_of(text) == ()


def test_a_sentence_with_a_vector_has_a_greatest_length():
    text = "x" * LONGEST + ". " + "Y" * LONGEST
    assert [end - start for start, end in sentences_of(text)] == [LONGEST, 1, LONGEST]
    assert sentences_of(text) is sentences_of(text)  # cached
