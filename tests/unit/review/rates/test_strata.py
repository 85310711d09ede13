"""Strata of a frame, and how labels are given to them."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.review.rates.strata import BY_SCORE, EXPECTED, sizes, turns


def given_to(labels, answers=10_000):
    room = sizes(answers)
    counted = Counter(turns(labels, room, room, EXPECTED))
    return [counted[h] for h in range(len(room))]


def test_strata_are_shares_of_the_answers():
    assert sizes(1_000) == [20, 30, 50, 100, 200, 600]
    assert [sum(sizes(n)) for n in range(200)] == list(range(200))


def test_a_hundred_labels_go_where_they_tell_most():
    """As in shared/rates.md, §1: by half to the weights of strata, by half to where answers of both kinds are."""
    assert given_to(100) == [4, 6, 8, 13, 21, 48]


@pytest.mark.parametrize("labels", [25, 50, 100, 200, 400])
def test_every_beginning_is_a_good_allocation(labels):
    room = sizes(10_000)
    whole = turns(400, room, room, EXPECTED)
    assert whole[:labels] == turns(labels, room, room, EXPECTED)
    due = [n / 400 * labels for n in given_to(400)]
    assert all(abs(n - d) <= 1.5 for n, d in zip(given_to(labels), due, strict=True))


def test_each_part_has_a_label_before_any_has_two():
    assert given_to(6) == [1] * 6


@given(st.integers(0, 700), st.lists(st.integers(1, 60), min_size=6, max_size=6))
def test_no_part_gets_more_labels_than_it_has_answers(labels, room):
    counted = Counter(turns(labels, room, room, EXPECTED))
    assert counted.total() == min(labels, sum(room))
    assert all(counted[h] <= places for h, places in enumerate(room))


def test_strata_are_narrow_where_bad_answers_are():
    assert len(BY_SCORE) == len(EXPECTED)
    assert list(EXPECTED) == sorted(EXPECTED, reverse=True)
