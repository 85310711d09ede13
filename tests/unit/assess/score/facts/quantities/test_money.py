"""Amounts of money, percentages and degrees in the forms that answers and documents give them."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing


def held(answer, document):
    return missing(answer, FactIndex.of([document])) == ()


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
def test_the_same_in_another_form_is_held(one, other):
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
def test_another_figure_is_not_held(answer, document):
    assert not held(answer, document)
