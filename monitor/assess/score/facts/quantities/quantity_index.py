"""An index of the numbers of a text, to look up whether one of them says the same as another number.

Two numbers say the same if they are equal, or one is the other rounded, called approximate, or in another unit.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from monitor.assess.score.facts.quantities.quantity import Quantity
from monitor.assess.score.facts.quantities.units import RATIO, TEMPERATURE, VERSION

MOST_LOOKED_AT = 8  # of the numbers above the sought one, and again of those below: the nearest are compared
CONVERTED = 0.05  # the largest deviation of a converted and rounded number, as a share
CALLED_ABOUT = 0.1  # the largest deviation of a number called approximate, as a share
_EXACT = 1e-9  # the rounding error of binary fractions

_BARE = ""  # numbers with no unit
_ANY = "*"  # all numbers as written, whatever their unit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    """Quantities of one dimension in the order of `bases`, their values in the dimension's own unit."""

    bases: tuple[float, ...]
    quantities: tuple[Quantity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measure:
    """The sought number, the place value of its last digit and that of its last digit other than 0, in one unit."""

    value: float
    step: float
    rough: float


class Quantities:
    """The numbers of one text, indexed by value."""

    __slots__ = ("_rows",)

    def __init__(self, quantities: Iterable[Quantity]) -> None:
        rows: dict[str, dict[tuple[float, float, float], Quantity]] = {}
        for q in quantities:
            factor = q.unit.factor if q.unit else 1.0
            rows.setdefault(q.unit.dimension if q.unit else _BARE, {})[base(q), q.step, factor] = q
            rows.setdefault(_ANY, {})[q.number, q.step, 1.0] = q
        self._rows = {
            dimension: _Row(bases=tuple(key[0] for key in order), quantities=tuple(row[key] for key in order))
            for dimension, row in rows.items()
            for order in [sorted(row)]
        }

    def hold(self, sought: Quantity) -> bool:
        """Whether one of the numbers says the same as `sought`.

        A bare number is held by the same number in any unit. A number with a unit is held by the same bare number or by
        one that converts into it, never by the same number in another dimension. A version is held by the same figures.
        """
        as_written = _Measure(value=sought.number, step=sought.step, rough=_rough(sought.number))
        if sought.unit is None:
            return self._near(_ANY, sought, as_written) or (
                0 < sought.number < 1 and self._near(RATIO, sought, as_written)
            )
        if sought.unit == VERSION:
            return self._near(_ANY, sought, as_written)
        factor = sought.unit.factor
        converted = _Measure(value=base(sought), step=sought.step * factor, rough=as_written.rough * factor)
        return (
            self._near(sought.unit.dimension, sought, converted)
            or self._near(_BARE, sought, as_written)
            or (sought.unit.dimension == RATIO and self._near(_BARE, sought, converted))
        )

    def _near(self, dimension: str, sought: Quantity, measure: _Measure) -> bool:
        row = self._rows.get(dimension)
        if row is None:
            return False
        value = measure.value
        share = CALLED_ABOUT if sought.about else _EXACT if dimension in {_BARE, _ANY} else CONVERTED
        reach = max(abs(value) * share, measure.step) + _EXACT
        place = bisect_left(row.bases, value)
        first = bisect_left(row.bases, value - reach, max(0, place - MOST_LOOKED_AT), place)
        last = bisect_right(row.bases, value + reach, place, min(len(row.bases), place + MOST_LOOKED_AT))
        return any(
            _says(row.quantities[at], row.bases[at], sought, measure)
            for at in (*range(place, last), *range(place - 1, first - 1, -1))  # most are held as they stand
        )


def base(quantity: Quantity) -> float:
    """The value in the dimension's own unit."""
    unit = quantity.unit
    return quantity.number * unit.factor + unit.offset if unit else quantity.number


def _says(held: Quantity, held_value: float, sought: Quantity, measure: _Measure) -> bool:
    off = abs(held_value - measure.value)
    size = max(abs(held_value), abs(measure.value))
    if sought.unit == VERSION:
        return off <= _EXACT * size and (held.step == sought.step or sought.number % 1 == 0)
    if off <= _EXACT * size:
        return True
    step = measure.step
    if sought.about and off <= min(CALLED_ABOUT * size, max(measure.rough, step) / 2):
        return True
    if held.unit is None or sought.unit is None or held.unit == sought.unit:
        return (held.step < sought.step or _rounded_fraction(held, sought)) and off <= step / 2 * (1 + _EXACT)
    limit = 1.0 if sought.unit.dimension == TEMPERATURE else CONVERTED * size
    rounded = max(0.0 if _whole_beside(sought, held) else step, 0.0 if _whole_beside(held, sought) else _step(held))
    return off <= min(rounded / 2, limit)


def _rounded_fraction(held: Quantity, sought: Quantity) -> bool:
    """Whether one is a fraction and the other a share of a whole too, as 33 % or 0.33 are of a third; not 33 users."""
    shares = all(q.unit is not None or 0 < q.number < 1 for q in (held, sought))
    return (held.fraction or sought.fraction) and shares


def _whole_beside(quantity: Quantity, other: Quantity) -> bool:
    """Whether a whole number is beside a measure of several parts, whose figures it does not round: 2 h, 1 h 55 min."""
    return other.parts and not quantity.parts and quantity.step >= 1


def _step(quantity: Quantity) -> float:
    return quantity.step * (quantity.unit.factor if quantity.unit else 1.0)


def _rough(number: float) -> float:
    """The place value of the last digit that is not 0: hundreds for "about 1,200"."""
    worth = 10.0
    while number and number % worth == 0:
        worth *= 10
    return worth / 10
