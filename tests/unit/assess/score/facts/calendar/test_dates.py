from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, FactKind, facts
from monitor.assess.score.facts.calendar.moment import Moment, implied


def dates(text):
    return [fact.key for fact in facts(text) if fact.kind is FactKind.DATE]


THIRD_OF_MAY = (Moment("day", 2020, 5, 3),)


@pytest.mark.parametrize(
    "text",
    [
        "on 3 May 2020",
        "on 3rd of May, 2020",
        "on May 3, 2020",
        "on May 3rd , 2020",
        "on 2020-05-03",
        "on 2020/05/03",
        "am 3. Mai 2020",
        "3. Mai 2020",
        "le 3 mai 2020",
        "el 3 de mayo de 2020",
        "em 3 de maio de 2020",
        "il 3 maggio 2020",
        "2020年5月3日",
        "2020년 5월 3일",
    ],
)
def test_a_whole_date(text):
    assert dates(text) == [THIRD_OF_MAY]


def test_figures_alone_have_two_readings_where_the_calendar_allows():
    assert dates("03/05/2020") == [(Moment("day", 2020, 5, 3), Moment("day", 2020, 3, 5))]
    assert dates("13.05.2020") == [(Moment("day", 2020, 5, 13),)]
    assert dates("3/5/98")[0][0] == Moment("day", 1998, 5, 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in May 2020", [Moment("month", 2020, 5)]),
        ("in May", [Moment("month", 0, 5)]),
        ("until 3 May", [Moment("day", 0, 5, 3)]),
        ("en juillet", [Moment("month", 0, 7)]),
        ("in 2020", [Moment("year", 2020)]),
        ("二〇二〇年", [Moment("year", 2020)]),
        ("2020年", [Moment("year", 2020)]),
        ("the 1990s", [Moment("decade", 199)]),
        ("the '90s", [Moment("tens", 9)]),
        ("the nineties", [Moment("tens", 9)]),
        ("the 19th century", [Moment("century", 19)]),
        ("the nineteenth century", [Moment("century", 19)]),
        ("Q3 2020", [Moment("quarter", 2020, 3)]),
        ("on Monday", [Moment("weekday", 0)]),
        ("am Dienstag", [Moment("weekday", 1)]),
        ("na segunda-feira", [Moment("weekday", 0)]),
        ("at 5 pm", [Moment("time", 17, 0)]),
        ("at 12:30 a.m.", [Moment("time", 0, 30)]),
        ("at 17:00", [Moment("time", 17, 0)]),
        ("um 17.30 Uhr", [Moment("time", 17, 30)]),
        ("à 17h30", [Moment("time", 17, 30)]),
        ("at noon", [Moment("time", 12, 0)]),
    ],
)
def test_parts_of_dates(text, expected):
    assert [readings[0] for readings in dates(text)] == expected


def test_both_years_of_a_season():
    assert dates("2019-20 and 2020/21") == [(Moment("year", year),) for year in (2019, 2020, 2020, 2021)]


def test_a_time_without_its_half_of_the_day_has_both():
    assert dates("at 5:30") == [(Moment("time", 5, 30), Moment("time", 17, 30))]


@pytest.mark.parametrize(
    "text", ["They march on.", "She may go.", "2000 meters up", "$2000", "2020 people", "They sat in the sun.", "25:70"]
)
def test_lookalikes_of_dates(text):
    assert dates(text) == []


def test_a_date_implies_every_coarser_part_of_it():
    held = implied(Moment("day", 2020, 5, 3))
    for part in (
        Moment("day", 2020, 5, 3),
        Moment("day", 0, 5, 3),
        Moment("month", 2020, 5),
        Moment("month", 0, 5),
        Moment("quarter", 2020, 2),
        Moment("year", 2020),
        Moment("decade", 202),
        Moment("tens", 2),
        Moment("century", 21),
    ):
        assert part in held
    assert Moment("century", 20) in implied(Moment("year", 2000))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("El cinco de mayo está en casa y no más.", Moment("day", 0, 5, 5)),
        ("It is on the twenty-third of May.", Moment("day", 0, 5, 23)),
        ("It is on May third.", Moment("day", 0, 5, 3)),
        ("Le premier mai est pour vous.", Moment("day", 0, 5, 1)),
        ("Das ist am dritten Mai 2020.", Moment("day", 2020, 5, 3)),
        ("Das ist im neunzehnten Jahrhundert.", Moment("century", 19)),
        ("Il est du dix-neuvième siècle.", Moment("century", 19)),
    ],
)
def test_dates_in_words(text, expected):
    assert [fact.key[0] for fact in facts(text)] == [expected]


def test_a_number_that_is_also_a_month_is_the_number_in_its_language():
    assert FactIndex.of(["Sept jours sont pour vous."]).holds(facts("Il y a 7 jours pour vous.")[0])
