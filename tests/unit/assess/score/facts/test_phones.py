"""Telephone numbers are held by their figures, however these are grouped."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, facts, missing
from monitor.assess.score.facts.phones import Phone, phones

AMERICAN = [
    *("+1 (555) 123-4567", "+1 555 123 4567", "(555) 123-4567", "555-123-4567", "555 123 4567", "1-555-123-4567"),
    *("555.123.4567", "+15551234567", "5551234567", "+1-555-123-4567", "(555)123-4567"),
]


def lacking(answer, document):
    return [fact.text for fact in missing(answer, FactIndex.of([document]))]


@pytest.mark.parametrize("one", AMERICAN)
def test_a_number_is_held_in_every_form(one):
    for other in AMERICAN:
        assert lacking(f"Call {one} now.", f"Telephone: {other}.") == []
    assert len(lacking(f"Call {one} now.", "Telephone: 555-123-4568.")) == 1


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("Call +49 30 123 4567.", "Tel. +49 30 1234567"),
        ("Call +49 30 1234567.", "Tel. 030/1234567"),
        ("Call 030 1234567.", "Tel. +49 30 1234567"),
        ("Call 0800 123456.", "Tel. 0800-123456"),
        ("Call 1-800-555-0199.", "Tel. 1 800 555 0199"),
        ("Call +44 (0)20 7946 0958.", "Tel. +44 (0) 20 7946 0958"),
        ("It has 123456789 rows.", "It has 123,456,789 rows."),  # which may be a number as well
    ],
)
def test_the_same_number_in_another_form_is_held(answer, document):
    assert lacking(answer, document) == []


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("Call (415) 123-4567.", "Tel. (555) 123-4567"),
        ("Call +49 30 1234567.", "Tel. +49 30 1234568"),
        ("Call 1-800-555-0198.", "Tel. 1-800-555-0199"),
    ],
)
def test_another_number_is_not_held(answer, document):
    assert len(lacking(answer, document)) == 1


@pytest.mark.parametrize(
    "text",
    [
        *(
            "It rose from 1 000 000 to 2,000,000.",
            "It is +60 °C.",
            "On 2020-05-03 and 03.05.2020.",
            "ISBN 0-306-40615-2",
        ),
        *(
            "Lancet 12 (2019) 345-678.",
            "$555 123 4567",
            "It is 3.14159265358.",
            "10.0.0.1",
            "x5551234567",
            "+1,234,567",
        ),
    ],
)
def test_other_figures_are_no_telephone_number(text):
    assert not any(isinstance(reading, Phone) for fact in facts(text) for reading in fact.key)


def test_all_numbers_of_a_text_are_found():
    assert [*phones("Call 555-123-4567 or +49 30 1234567, not 12.")] == [Phone("5551234567"), Phone("49301234567")]


@pytest.mark.parametrize("unit", ["1 ", "+1", "555-", "(555) ", "0", "+1 2 3 4 5 6 7 8 9 "])
def test_hostile_texts_are_read_to_their_end(unit):
    text = unit * 5_000 + " and then 40 days"
    assert facts(text)[-1].text == "40 days"
    assert FactIndex.of([text]).holds(facts("40 days")[0])
