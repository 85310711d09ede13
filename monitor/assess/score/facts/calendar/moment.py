"""The type of a date or time in its readings, and what each of them implies."""

from __future__ import annotations

from typing import Literal, NamedTuple

Part = Literal["day", "month", "year", "decade", "tens", "century", "quarter", "weekday", "time"]


class Moment(NamedTuple):
    """One reading of a date: the part that it states, and its figures. A year that is not stated is 0.

    day: year, month, day. month: year, month. year: year. decade: year / 10. tens: the decade within its century
    ("the nineties": 9). century: its ordinal. quarter: year, quarter. weekday: Monday is 0. time: hour, minute.
    Years and centuries before Christ are below 0.
    """

    part: Part
    a: int
    b: int = 0
    c: int = 0


Moments = tuple[Moment, ...]


def implied(stated: Moment) -> list[Moment]:
    """Everything that a document holds if it states `stated`: the moment itself and every coarser part of it."""
    part, a, b, c = stated
    if part == "day":
        coarser = [Moment("day", 0, b, c), *implied(Moment("month", a, b))]
        return [stated, *coarser]
    if part == "month":
        quarter = (b + 2) // 3
        found = [stated, Moment("month", 0, b)]
        return [*found, Moment("quarter", a, quarter), *implied(Moment("year", a))] if a else found
    if part == "year":
        past = [Moment("century", -((99 - a) // 100))] if a < 0 else []
        return [stated, *(past or [*implied(Moment("decade", a // 10)), Moment("century", (a + 99) // 100)])]
    if part == "decade":
        return [stated, Moment("tens", a % 10), Moment("century", a // 10 + 1)]
    if part == "quarter":
        return [stated, Moment("quarter", 0, b), *(implied(Moment("year", a)) if a else ())]
    return [stated]
