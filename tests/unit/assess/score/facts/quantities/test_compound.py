"""Measures of several parts, and numbers with a power of ten."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing
from tests.rig.assess.quantities import values, with_dimensions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It takes 1 h 30 min.", (90, "time")),
        ("It takes 1h30m.", (90, "time")),
        ("It takes one hour and thirty minutes.", (90, "time")),
        ("It takes 2 days 4 hours 5 minutes.", (3125, "time")),
        ("It takes 1 year and 6 months.", (18, "time")),
        ("Es dauert 1 Std. 30 Min. oder", (90, "time")),
        ("Il dure 2 heures et 15 minutes.", (135, "time")),
        ("Dura 2 horas y 30 minutos.", (150, "time")),
        ("She is 5 feet 11 inches tall.", (71, "length")),
        ("It is 5 m 30 cm long.", (530, "length")),
        ("It weighs 6 lb 3 oz.", (99, "mass")),
    ],
)
def test_the_parts_of_a_measure_are_one_quantity(text, expected):
    assert with_dimensions(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It takes between 1 hour and 30 minutes.", [1, 30]),
        ("It takes 2 days, 4 hours at night.", [2, 4]),
        ("It takes 30 minutes and 1 hour.", [30, 1]),
        ("It takes 1 hour and 90 minutes.", [1, 90]),
        ("It takes 1.5 hours 20 minutes away.", [1.5, 20]),
        ("It takes 2 hours and 3 litres.", [2, 3]),
        ("Drive 5 km. 30 metres on it is.", [5, 30]),
        ("It takes 1 h 30 min or 2 h.", [90, 2]),
    ],
)
def test_measures_beside_each_other_stay_apart(text, expected):
    assert values(text) == expected


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It takes 1 h 30 min.", "It takes 90 minutes."),
        ("It takes 90 minutes.", "It takes 1 hour and 30 minutes."),
        ("It takes 1.5 hours.", "It takes 1 h 30 min."),
        ("It takes 30 minutes.", "It takes 1 hour and 30 minutes."),  # a source's parts count as well
        ("It takes 1 h 30 min.", "It takes 1 hour and 30 minutes."),
        ("It weighs 99 oz.", "It weighs 6 lb 3 oz."),
        ("It has a million rows.", "It has 1e6 rows."),
        ("It has 1.5 × 10^6 rows.", "It has 1,500,000 rows."),
        ("It has 1.5×10⁶ rows.", "It has 1.5 million rows."),
        ("It spins at 900rpm.", "It spins at 900 rpm."),
        ("It spins at 900 rpm.", "It spins at 900RPM or 900rpm."),
        ("It is 4x as fast.", "It is four times as fast."),
    ],
)
def test_the_same_in_another_form_is_held(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It takes 1 h 20 min.", "It takes 1 h 30 min."),
        ("It takes 1 h 30 min.", "It takes 1 hour. Wait 30 minutes before."),
        ("It has 1e6 rows.", "It has 1 row of 6."),
        ("It has 1e6 rows.", "It has 1e5 rows."),
        ("It has 2 × 10⁶ rows.", "It has 2 × 10⁵ rows."),
        ("It spins at 900rpm.", "It is 900 mm wide."),
        ("It spins at 900rpm.", "It costs 900dpi."),
    ],
)
def test_another_measure_is_not_held(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 1.5e-3 wide.", [0.0015]),
        ("It is 2E+3 wide.", [2000]),
        ("It is 1,5·10^-3 wide.", [0.0015]),
        ("It is 3 × 10⁻² wide.", [0.03]),
        ("Size 2 x 10 rows.", [2, 10]),
        ("In the 5e of 3 e 4.", [5, 3, 4]),
        ("The claim stands.¹⁰ It is 10⁶ wide.", [10]),  # marks of footnotes
        ("Id 550e8400-e29b.", [550]),
    ],
)
def test_powers_of_ten(text, expected):
    assert values(text) == pytest.approx(expected)


def test_the_work_grows_with_the_text():
    assert len(values("1 h " * 20_000)) == 20_000
    assert len(values("1 year 1 month 1 day 1 hour 1 minute 1 second, " * 5_000)) == 5_000
