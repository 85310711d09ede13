"""Units by their symbols and names: a figure in one unit is not held by the same figure in another."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, FactKind, facts, missing
from tests.rig.assess.quantities import with_dimensions


def held(answer, document):
    return missing(answer, FactIndex.of([document])) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 mg", "5 µg"),
        ("5 mg", "5 μg"),
        ("5 mg", "5 mcg"),
        ("5mg", "5µg"),
        ("5 mg", "5 micrograms"),
        ("500 mcg", "500 g"),
        ("5毫克", "5微克"),
        ("5 mL", "5 dL"),
        ("5 ml", "5 L"),
        ("5 µl", "5 ml"),
        ("5 kWh", "5 MWh"),
        ("5 kW", "5 kWh"),
        ("5 mW", "5 MW"),
        ("60 W", "60 kW"),
        ("5 µs", "5 ms"),
        ("5 ns", "5 s"),
        ("5 nm", "5 mm"),
        ("5 µm", "5 mm"),
        ("5 J", "5 kJ"),
        ("5 kV", "5 V"),
        ("5 mA", "5 amps"),
        ("5 hPa", "5 Pa"),
        ("5 mmol", "5 mg"),
        ("5 kbit/s", "5 Mbit/s"),
        ("5 ppm", "5 ppb"),
        ("5 basis points", "5 percent"),
        ("5 IU", "5 mg"),
        ("5 cm²", "5 mm²"),
        ("5 m/s", "5 km/h"),
        ("5 Mikrogramm", "5 Milligramm"),
        ("5 microgramos", "5 miligramos"),
    ],
)
def test_another_unit_is_another_figure(one, other):
    assert not held(one, other)
    assert not held(other, one)
    assert held(one, one)
    assert held(other, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("500 µg", "0.5 mg"),
        ("5 mcg", "5 μg"),
        ("5 micrograms", "5 µg"),
        ("5 Mikrogramm", "5 µg"),
        ("2 dL", "200 ml"),
        ("1.5 MWh", "1500 kWh"),
        ("5 Mbps", "5 Mbit/s"),
        ("100 kcal", "418 kJ"),
        ("250 calories", "250 kcal"),
        ("50 basis points", "0.5 %"),
        ("10 m/s", "36 km/h"),
        ("12V", "12 volts"),
        ("5 mA", "5"),
        ("1 hPa", "100 Pa"),
    ],
)
def test_the_same_in_another_unit_is_held(one, other):
    assert held(one, other)


@pytest.mark.parametrize(
    ("text", "figure"),
    [
        ("5 V-belts are in it", 5),
        ("chapter 6 A new hope", 6),
        ("He came in 7 J. Smith then", 7),
        ("8 Nm", 8),
        ("20 DM", 20),
        ("Gate 9 pa", 9),
    ],
)
def test_what_only_looks_like_a_symbol(text, figure):
    assert with_dimensions(text) == [(figure, None)]


def test_a_year_before_initials_stays_a_year():
    assert [fact.kind for fact in facts("It was in 2019 J. Miller wrote it.")] == [FactKind.DATE, FactKind.NAME]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5 dollars and 50 cents", "$5.50"),
        ("five dollars and fifty cents", "$5.50"),
        ("3 Euro und 50 Cent", "3,50 €"),
        ("US $5", "$5"),
        ("HK$5", "5 dollars"),
        ("Euro 5", "€5"),
        ("99¢", "$0.99"),
        ("25 bps", "0.25 percentage points"),
        ("25 Basispunkte", "25 basis points"),
        ("5 Prozentpunkte", "5 percentage points"),
        ("5 puntos porcentuales", "5 percentage points"),
        ("20C", "20 °C"),
        ("20℃", "20 °C"),
        ("68℉", "68 °F"),
        ("1⁄2 of it", "50% of it"),
        ("an eighth of it", "12.5% of it"),
    ],
)
def test_money_percentages_and_degrees_in_another_form_are_held(one, other):
    assert held(f"It is {one}.", f"It was {other}.")
    if not one.startswith("an"):  # an article begins no number of an answer
        assert held(f"It is {other}.", f"It was {one}.")


@pytest.mark.parametrize(
    ("answer", "document"),
    [
        ("It is $5.60.", "It is 5 dollars and 50 cents."),
        ("It is 5 dollars and 60 cents.", "It is $5.50."),
        ("It is 50 bps.", "It is 25 bps."),
        ("It is 20 °C.", "It is 20F."),
        ("It runs Python 3.1.", "It runs Python 3.10."),
        ("It runs iOS 15.10.", "It runs iOS 15.1."),
    ],
)
def test_another_amount_or_version_is_not_held(answer, document):
    assert not held(answer, document)
