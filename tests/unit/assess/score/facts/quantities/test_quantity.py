"""A dash before a figure is a minus, or joins the ends of a range: -5 to 10 °C, 5-10 °C."""

from __future__ import annotations

import pytest

from monitor.assess.score.facts import FactIndex, missing
from tests.rig.assess.quantities import with_dimensions

BELOW_ZERO = [
    *("between −5 and 10 °C", "between -5 and 10 °C", "-5 to 10 °C", "−5 to 10 °C", "from -5 to 10 °C", "-5–10 °C"),
    *("-5...10 °C", "−5…+10 °C", "-5 – 10 °C", "minus 5 to 10 °C", "-5 °C to +10 °C", "–5 to 10 °C", ": -5 to 10 °C"),
    *("between minus five and ten degrees Celsius",),
]
ABOVE_ZERO = [
    "5-10 °C",
    "5–10 °C",
    "5 - 10 °C",
    "5 -10 °C",
    "5 to 10 °C",
    "between 5 and 10 °C",
    "5 °C–10 °C",
    "5...10 °C",
]


@pytest.mark.parametrize("text", BELOW_ZERO)
def test_a_range_from_below_zero(text):
    assert with_dimensions(f"It works {text}.") == [(-5, "temperature"), (10, "temperature")]
    assert missing("It works from -5 °C to 10 °C.", FactIndex.of([f"It works {text}."])) == ()
    (fact,) = missing("It works from 5 °C to 10 °C.", FactIndex.of([f"It works {text}."]))
    assert fact.text == "5 °C"


@pytest.mark.parametrize("text", ABOVE_ZERO)
def test_a_range_above_zero(text):
    assert with_dimensions(f"It works at {text}.") == [(5, "temperature"), (10, "temperature")]


@pytest.mark.parametrize("text", ["-10--5 °C", "-10 to -5 °C", "−10 bis −5 °C", "-10 °C to -5 °C", "-10…-5 °C"])
def test_a_range_below_zero(text):
    assert with_dimensions(f"It works at {text}.") == [(-10, "temperature"), (-5, "temperature")]


@pytest.mark.parametrize("text", ["It is –5 °C.", "Temperature:-5 °C", "(-5 °C)", "It is -5 °C.", "It is −5 °C."])
def test_a_minus_before_one_figure(text):
    assert with_dimensions(text) == [(-5, "temperature")]


def test_signs_count_only_for_temperatures():
    assert with_dimensions("It fell by -5 to -10 %.") == [(5, "ratio"), (10, "ratio")]
