from __future__ import annotations

import pytest

from monitor.store.interaction.listing.search import MOST_TERMS, terms


@pytest.mark.parametrize(
    ("typed", "wanted", "unwanted"),
    [
        ("", (), ()),
        ("   ", (), ()),
        ("refund", ("refund",), ()),
        ("Refund  POLICY", ("refund", "policy"), ()),
        ('"thirty  days" -urgent', ("thirty days",), ("urgent",)),
        ('-"not this" that', ("that",), ("not this",)),
        ('"never closed', ("never closed",), ()),
        ('"" - refund', ("refund",), ()),
        ("50% off_peak", ("50%", "off_peak"), ()),
        ("Straße", ("straße",), ()),
    ],
)
def test_what_is_typed_is_read(typed, wanted, unwanted):
    found = terms(typed)
    assert (found.wanted, found.unwanted) == (wanted, unwanted)


def test_a_long_search_is_cut():
    assert len(terms(" ".join(map(str, range(100)))).wanted) == MOST_TERMS


def test_all_that_is_wanted_has_to_stand_somewhere_and_nothing_unwanted():
    found = terms("refund days -urgent")
    assert found.match("A Refund?", "within 30 days")
    assert not found.match("A refund?", "within 30 hours")
    assert not found.match("A refund?", "Urgent: within 30 days")
