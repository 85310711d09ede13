"""Reads a measure of several parts as one quantity: 1 h 30 min, two days and four hours, 5 feet 11 inches."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.numbers import number
from monitor.assess.score.facts.quantities.numerals import Numerals
from monitor.assess.score.facts.quantities.quantity import Listed, Quantity, Readings
from monitor.assess.score.facts.quantities.units import UNITS
from monitor.assess.score.facts.tokens import FIGURES, Tokens

_DIMENSIONS = frozenset(("time", "length", "mass", "dollar", "euro", "pound"))  # of money: 5 dollars and 50 cents
_DECIMALS = 9  # what is left of the rounding errors of binary fractions
_JOINS = listed("and und et y e en")
_BETWEEN = listed("between zwischen entre tra fra tussen")  # "between 1 hour and 30 minutes" is a range
_CLOSE = frozenset((" ", "", "\u00a0", "\u202f"))
_WITH_POINT = listed("std min hr hrs wk wks yr yrs ft lb lbs")  # 1 Std. 30 Min.
_BEGINNINGS = FIGURES | {"word", "han"}


def compound(
    tokens: Tokens, i: int, readings: Readings, after: int, numerals: Numerals, *, source: bool
) -> tuple[Readings, tuple[Listed, ...], int] | None:
    """The measure whose first part is the number at token `i`, and the token after it; None if it has no other part.

    `readings` are those of the first part, which ends before token `after`; the sum is in the unit of the last part.
    Each part is in a smaller unit than the one before it, and less than one of that, so a measure has few parts. Where
    they may as well be quantities beside each other ("packs of 1 kg and 500 g", 1日8時間), these come too.
    """
    joins = frozenset() if tokens.word(i - 1) in _BETWEEN else _JOINS
    whole = None
    apart = [readings]
    while any(q.unit and q.unit.dimension in _DIMENSIONS for q in readings):
        joined = tokens.word(after) in joins and tokens.gap(after) == " "
        at = after + 1 if joined else after
        unspaced = _is_unspaced_unit(tokens.gap(at))
        close = tokens.gap(at) in _CLOSE or (tokens.gap(at) == ". " and tokens.word(at - 1) in _WITH_POINT)
        if not (close or unspaced) or tokens.kind(at) not in _BEGINNINGS:
            break
        part = number(tokens, at, numerals, source=source)
        sums = tuple(_sums(readings, part[0])) if part else ()
        if not part or not sums:
            break
        apart = [*apart, part[0]] if joined or unspaced else [*apart[:-1], tuple(_sums(apart[-1], part[0]))]
        readings, after = sums, part[1]
        whole = sums, (Listed(tuple(apart)),) if len(apart) > 1 else (), after
    return whole


def _is_unspaced_unit(gap: str) -> bool:
    """Whether the text between two numbers is the unit of the first, in a script whose words are not tokens."""
    return not gap.isascii() and gap.strip() in UNITS


def _sums(readings: Readings, part: Readings) -> Iterator[Quantity]:
    for whole in readings:
        for rest in part:
            one, other = whole.unit, rest.unit
            if one is None or other is None or one.dimension != other.dimension or one.dimension not in _DIMENSIONS:
                continue
            if whole.step >= 1 and other.factor < one.factor and rest.number * other.factor < one.factor:
                total = round(whole.number * one.factor / other.factor + rest.number, _DECIMALS)
                yield Quantity(number=total, step=rest.step, unit=other, about=whole.about or rest.about, parts=True)
