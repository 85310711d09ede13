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
        ("It has 2 × 10¹² rows.", "It has 2 × 10¹⁵ rows."),
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
        ("It is 6.02 × 10²³ wide.", [6.02e23]),
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
    assert len(values("0 h " * 20_000)) == 20_000
    assert len(values("1 year 1 month 1 day 1 hour 1 minute 1 second, " * 5_000)) == 5_000


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It comes in packs of 1 kg and 500 g.", "Packs: 500 g, 1 kg, 5 kg."),
        ("Hay paquetes de 1 kg y 500 g.", "Paquetes: 500 g, 1 kg."),
        ("The windows are 1 hour and 5 minutes.", "Windows: 5 minutes (short), 1 hour (long)."),
        ("Logs are kept for 1 year and 30 days.", "Audit logs: one year. Access logs: 30 days."),
        ("The races are 5 km and 500 m long.", "500 m for children, 5 km for adults."),
        ("1日8時間働きます。", "1日の労働時間は8時間です。"),
        ("It comes in 2 lb 3 oz and 1 oz packs.", "Packs: 1 oz, 35 oz."),
    ],
)
def test_quantities_that_an_answer_lists_are_held_one_by_one(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It comes in packs of 1 kg and 500 g.", "It comes in packs of 1 kg and 250 g."),
        ("It takes 1 hour and 20 minutes.", "It takes 1 hour and 30 minutes."),
        ("需要1小时20分钟。", "需要1小时30分钟。"),
        ("It takes 1 h 30 min.", "It takes 1 hour. Then wait: 30 minutes."),  # a measure for sure
    ],
)
def test_of_what_an_answer_lists_each_must_be_held(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("需要1小时30分钟。", "需要90分钟。"),
        ("需要90分钟。", "需要一小时三十分钟。"),
        ("所要時間は1時間30分です。", "所要時間は90分です。"),
        ("1시간 30분이 걸립니다.", "90분이 걸립니다."),
    ],
)
def test_measures_in_scripts_without_spaces(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It spins at 900 rpm.", "It spins at 900RPM."),
        ("It spins at 900rpm.", "It spins at 900RPM."),
        ("Inflate it to 30 psi.", "Inflate to 30PSI."),
        ("The camera has 16 MP.", "Camera: 16MP."),
        ("The camera has 16MP.", "Camera: 16 MP."),
        ("Er darf 7,5t wiegen.", "Höchstens 7,5 Tonnen."),
        ("Le délai est de 14j.", "Le délai est de 14 jours."),
    ],
)
def test_an_unknown_unit_in_another_form_is_held(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It spins at 900rpm.", "It is 900DPI."),
        ("Use 5G there.", "It weighs 5 g."),
        ("It takes 30 days.", "Inflate to 30PSI."),
    ],
)
def test_a_name_with_figures_hides_no_figure(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It takes 2 hours.", "It takes 1 h 55 min."),
        ("It takes 1 h 55 min.", "It takes 2 hours."),
        ("It takes 1h55.", "It takes 2 hours."),
        ("It takes 2 hours 5 minutes.", "It takes 2 hours."),
        ("It takes 1 h 57 min.", "It takes 1 h 55 min."),
        ("He is 6 feet tall.", "He is 5 feet 11 inches tall."),
        ("It takes 2.0 hours.", "It takes 1 h 55 min."),
    ],
)
def test_a_measure_of_several_parts_is_as_exact_as_its_last(answer, document):
    assert len(missing(answer, FactIndex.of([document]))) == 1


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It takes about 2 hours.", "It takes 1 h 55 min."),
        ("It takes 1.9 hours.", "It takes 1 h 55 min."),  # rounded as written
        ("He is 1.80 m tall.", "He is 5 feet 11 inches tall."),
        ("He is 5 feet 11 inches tall.", "He is 180 cm tall."),
    ],
)
def test_rounded_and_converted_measures_of_several_parts_are_held(answer, document):
    assert missing(answer, FactIndex.of([document])) == ()
