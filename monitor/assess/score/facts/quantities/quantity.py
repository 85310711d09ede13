"""The type of a quantity: one reading of a number, with its unit and its precision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.units import TEMPERATURE, UNITS, Unit
from monitor.assess.score.facts.tokens import FIGURES, Tokens

_MINUS = listed("minus menos moins meno min")
_NO_MINUS = listed("al lo pelo ao au du o ou")  # "al menos 5 grados": at least; "más o menos": about


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One reading of a number: `number` as written with its multiplier, in `unit` (None: bare).

    `step` is the place value of its last written digit (3.14: 0.01; 1.2 million: 100,000). `about` says that the text
    calls it approximate. The sign counts only for temperatures, since texts use "fell by 5 %" and "−5 %" alike.
    `fraction`: written as one (a third), so that its decimals in percent are rounded. `parts`: a measure of several
    units (1 h 55 min), which is as exact as its last one.
    """

    number: float
    step: float
    unit: Unit | None = None
    about: bool = False
    fraction: bool = False
    parts: bool = False


Readings = tuple[Quantity, ...]


class Listed(NamedTuple):
    """Quantities beside each other, each with its readings: what a measure of several parts may be instead of a sum."""

    parts: tuple[Readings, ...]


def quantities(
    values: tuple[tuple[float, float], ...], units: tuple[Unit | None, ...], *, negative: bool = False
) -> Readings:
    return tuple(
        Quantity(number=-value if negative and unit and unit.dimension == TEMPERATURE else value, step=step, unit=unit)
        for value, step in values
        for unit in units
    )


def share(value: float) -> Quantity:
    """A share of a whole, as a percentage."""
    return Quantity(number=value * 100, step=1.0, unit=UNITS["%"][0], fraction=True)


def is_negative(tokens: Tokens, i: int) -> bool:
    """Whether a minus is before the number at token `i`: a dash that joins it to no word or number before it."""
    sign = tokens.word(i - 1)
    if sign in _MINUS:
        return tokens.word(i - 2) not in _NO_MINUS
    if not sign or sign not in "-−–" or not tokens.glued(i):
        return False
    if tokens.glued(i - 1):  # "10", a colon or the dash of a range: -10--5
        return tokens.kind(i - 2) == "sign" and tokens.raw(i - 2) not in "°%"
    return tokens.kind(i - 2) not in FIGURES or tokens.gap(i - 1) != " "  # 5 -10 °C is a range


def with_sign(readings: Readings, *, negative: bool) -> Readings:
    """Readings that have got their unit after their sign: those of a temperature take it."""
    if not negative:
        return readings
    return tuple(
        replace(q, number=-abs(q.number)) if q.unit and q.unit.dimension == TEMPERATURE else q for q in readings
    )
