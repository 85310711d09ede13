"""Days that have their month from another one, weekdays beside their date, and parts of dates."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, facts, missing
from monitor.assess.score.facts.calendar.moment import Moment


def lacking(answer, document):
    return [fact.text for fact in missing(answer, FactIndex.of([document]))]


THIRD, FIFTH = Moment("day", 2020, 5, 3), Moment("day", 2020, 5, 5)


@pytest.mark.parametrize(
    "text",
    ["between 3 and 5 May 2020", "3-5 May 2020", "3–5 May 2020", "from 3rd to 5th May 2020", "vom 3. bis 5. Mai 2020"],
)
def test_the_first_day_of_a_range_has_the_month_of_the_last(text):
    assert [fact.key[0] for fact in facts(text)] == [THIRD, FIFTH]
    assert lacking(f"It was {text}.", "It was 3 May 2020 to 5 May 2020.") == []
    assert lacking("It was 3 May 2020 to 5 May 2020.", f"It was {text}.") == []
    assert len(lacking(f"It was {text}.", "It was 4 May 2020 to 5 May 2020.")) == 1
    assert lacking("It was on the 3rd.", f"It was {text}.") == []  # which a source may also name alone


@pytest.mark.parametrize("text", ["May 3-5, 2020", "May 3–5, 2020"])
def test_the_last_day_of_a_range_has_the_month_of_the_first(text):
    assert [fact.key[0] for fact in facts(text)] == [Moment("day", 0, 5, 3), FIFTH]
    assert lacking(f"It was {text}.", "It was 3 May 2020 to 5 May 2020.") == []
    assert lacking("It was 3 May 2020 to 5 May 2020.", f"It was {text}.") == []
    assert lacking(f"It was {text}.", "It was May 3–7, 2020.") == ["5, 2020"]


@pytest.mark.parametrize(
    "text", ["Sunday, May 3, 2020", "Sun 3 May 2020", "Sonntag, 3. Mai 2020", "Sunday, 03/05/2020"]
)
def test_a_weekday_that_the_calendar_gives_the_date_needs_no_document(text):
    assert lacking(f"It opened on {text}.", "Opened: 2020-05-03.") == []


def test_a_wrong_weekday_is_missing():
    assert lacking("It opened on Monday, May 3, 2020.", "Opened: 2020-05-03.") == ["Monday"]
    assert lacking("It opens on Sunday.", "Opened: 2020-05-03.") == ["Sunday"]


@pytest.mark.parametrize(
    "text", ["3-May-2020", "May-03-2020", "May the 3rd, 2020", "2020. 5. 3.", "二〇二〇年五月三日"]
)
def test_a_whole_date_in_another_form(text):
    assert [fact.key for fact in facts(f"on {text}")] == [(THIRD,)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 44 BC", Moment("year", -44)),
        ("in 44 B.C.E.", Moment("year", -44)),
        ("in 3,000 BCE", Moment("year", -3000)),
        ("44 v. Chr. war das die Zeit", Moment("year", -44)),
        ("the 5th century BC", Moment("century", -5)),
        ("the fifth century B.C.", Moment("century", -5)),
        ("the first quarter of 2020", Moment("quarter", 2020, 1)),
        ("the 2nd quarter of 2020", Moment("quarter", 2020, 2)),
        ("im ersten Quartal 2020 ist das nicht so", Moment("quarter", 2020, 1)),
        ("die 1990er Jahre", Moment("decade", 199)),
        ("1990年代", Moment("decade", 199)),
        ("三月", Moment("month", 0, 3)),
    ],
)
def test_parts_of_dates(text, expected):
    assert [fact.key[0] for fact in facts(text) if fact.kind == "date"] == [expected]


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It was in 1200.", "It was in 1200 BC."),
        ("It was in 1200 BC.", "It was in 1200."),
        ("It was in 44 BC.", "It was in 45 BC."),
        ("It was in the 5th century.", "It was in the 5th century BC."),
        ("It was in the first quarter of 2020.", "It was in Q2 2020."),
    ],
)
def test_another_date_is_not_held(answer, document):
    assert len(lacking(answer, document)) == 1


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It was in 44 BCE.", "It was in 44 BC."),
        ("It was in the 1st century BC.", "It was in 44 BC."),
        ("It was in Q1 2020.", "It was in the first quarter of 2020."),
        ("It was 44 years before.", "It was in 44 BC."),
    ],
)
def test_dates_that_are_held(answer, document):
    assert lacking(answer, document) == []
