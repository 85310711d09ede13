"""Fractions of a unit, of a million and added to a whole number: half an hour, ¾ of a mile, 2 1/2 hours."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing
from tests.rig.assess.quantities import values, with_dimensions


def held(answer, document):
    return missing(answer, FactIndex.of([document])) == ()


SAME = [
    ("30 minutes", ["half an hour", "half-hour", "a half hour", "1/2 hour", "½ hour", "half of an hour", "½ an hour"]),
    ("15 minutes", ["a quarter of an hour", "1/4 hour", "quarter of an hour", "one quarter of an hour"]),
    ("45 minutes", ["three quarters of an hour", "three-quarters of an hour", "3/4 of an hour", "¾ hour"]),
    (
        "75 minutes",
        ["an hour and 15 minutes", "an hour and a quarter", "one and a quarter hours", "1 1/4 hours"],
    ),
    (
        "150 minutes",
        ["two and a half hours", "2 and a half hours", "two-and-a-half hours", "2-1/2 hours"],
    ),
    ("150 minutes", ["two and one half hours", "two and one-half hours", "2 1/2 hours", "2½ hours"]),
    ("20 minutes", ["a third of an hour", "one third of an hour"]),
    ("250,000 people", ["a quarter of a million people", "quarter of a million people"]),
    ("500,000 people", ["half a million people", "half of a million people"]),
    ("6 eggs", ["half a dozen eggs", "half-dozen eggs", "a half dozen eggs"]),
    ("0.625 inches", ["5/8 inch", "five-eighths of an inch", "5/8-inch"]),
    ("804 m", ["half a mile", "a half-mile"]),
]


@pytest.mark.parametrize(("figure", "form"), [(figure, form) for figure, forms in SAME for form in forms])
def test_a_fraction_of_a_unit_is_held_by_its_figure_and_holds_it(figure, form):
    assert held(f"It takes {form}.", f"It takes {figure}.")
    assert held(f"It takes {figure}.", f"It takes {form}.")
    assert held(f"It takes {form}.", f"It takes {form}.")


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        ("30 Minuten", "Es dauert eine halbe Stunde und das ist nicht lang."),
        ("15 Minuten", "Es dauert eine Viertelstunde und das ist nicht lang."),
        ("75 Minuten", "Es dauert eine Stunde und 15 Minuten, das ist nicht lang."),
        ("30 minutes", "Cela dure une demi-heure et c'est pour vous."),
        ("45 minutes", "Cela dure trois quarts d'heure et c'est pour vous."),
        ("75 minutes", "Cela dure une heure et quart et c'est pour vous."),
        ("30 minutos", "Dura media hora y es para una persona."),
        ("15 minutos", "Dura un cuarto de hora y es para una persona."),
        ("30 minuti", "Dura mezz'ora e non è molto."),
        ("30 minutos", "Dura meia hora e não é muito."),
        ("30 minuten", "Het duurt een half uur en dat is niet veel voor deze."),
        ("30分钟", "需要半小时。"),
        ("90分钟", "需要一个半小时。"),
        ("90分", "1時間半かかります。"),
    ],
)
def test_fractions_of_an_hour_in_other_languages(figure, said):
    assert held(said, figure)
    assert held(figure, said)


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It takes half an hour.", "It takes 45 minutes."),
        ("It takes half an hour.", "It takes half a day."),
        ("It takes two and a half hours.", "It takes 2 hours."),
        ("It takes 2 1/2 hours.", "It takes 2 hours."),
        ("It takes an hour and 20 minutes.", "It takes 75 minutes."),
        ("It takes an hour and 15 minutes.", "It takes an hour."),
        ("It takes an hour and a half.", "It takes an hour."),
        ("It takes three quarters of an hour.", "It takes a quarter of an hour."),
        ("Es dauert eine halbe Stunde und das ist nicht lang.", "Es dauert 45 Minuten."),
        ("需要半小时。", "需要45分钟。"),
    ],
)
def test_another_length_of_time_is_not_held(answer, document):
    assert not held(answer, document)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It takes an hour.", []),  # an article is a number only where more of the measure follows
        ("The fifth year of it.", [5]),
        ("Half of days are sunny.", [0.5]),
        ("The second half hour of it.", []),
        ("In 5 1/7 of it.", [5, 100 / 7]),
    ],
)
def test_lookalikes(text, expected):
    assert values(text)[: len(expected)] == pytest.approx(expected)
    assert len(values(text)) == len(expected)


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("One third of users left.", "33% of users left."),
        ("33% of users left.", "A third of users left."),
        ("33.3% of users left.", "1/3 of users left."),
        ("Two thirds of users left.", "67% of users left."),
        ("One third of users left.", "A share of 0.33 left."),
        ("Three sevenths of users left.", "42.9% of users left."),
        ("Half of users left.", "49.7% of users left."),
        ("A share of 0.33 left.", "One third of users left."),
    ],
)
def test_a_fraction_and_its_rounded_decimals_hold_each_other(answer, document):
    assert held(answer, document)


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("One third of users left.", "35% of users left."),
        ("34% of users left.", "A third of users left."),
        ("33.4% of users left.", "A third of users left."),
        ("One third of users left.", "33 users left."),
        ("33 users left.", "A third of users left."),
        ("3/4 of users left.", "Of 5 users, 3 left."),
    ],
)
def test_another_share_is_not_held(answer, document):
    assert not held(answer, document)


def test_a_mixed_number_has_its_unit():
    assert with_dimensions("It is 2 1/2 inches and 1 1/2 miles long.") == [(2.5, "length"), (1.5, "length")]
