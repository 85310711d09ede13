"""Reads the figures that have their month or half of the day from another date beside them: 3-5 May 2020, 9 to 5 pm."""

from __future__ import annotations

from datetime import date

from monitor.assess.score.facts.calendar import clock
from monitor.assess.score.facts.calendar.dates import MOST_DAYS, SHORT_WEEKDAYS, day_of, moment, with_year
from monitor.assess.score.facts.calendar.moment import Moment, Moments
from monitor.assess.score.facts.calendar.names import MONTHS, WEEKDAYS
from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.numerals import Numerals
from monitor.assess.score.facts.tokens import Tokens

_JOINS = listed("- – — to and or bis und oder à au et al y a e tot en till until through")
_DASHES = frozenset("-–—")
_BETWEEN = frozenset((" ", ", ", ". ", " the ", ",", "\u00a0"))  # a weekday and its date


def beside(tokens: Tokens, i: int, numerals: Numerals, *, source: bool) -> tuple[Moments, int] | None:
    """The day or time in figures at token `i` that begins or ends such a range, and the token after it."""
    raw = tokens.raw(i)
    if tokens.kind(i) != "digits" or len(raw) > len("31"):
        return None
    return _last_day(tokens, i) or _first(tokens, i, numerals, source=source)


def dated_weekday(tokens: Tokens, i: int, numerals: Numerals) -> tuple[Moments, int] | None:
    """The date after the weekday at token `i`, if it is on that weekday in the calendar: Sunday, May 3, 2020."""
    word = tokens.word(i)
    weekday = WEEKDAYS.get(word, SHORT_WEEKDAYS.get(word) if tokens.raw(i)[0].isupper() else None)
    if weekday is None or tokens.gap(i + 1) not in _BETWEEN or tokens.kind(i + 1) is None:
        return None
    found = moment(tokens, i + 1, numerals, source=False)
    readings = tuple(reading for reading in found[0] if _is_on(weekday, reading)) if found else ()
    return (readings, found[1]) if found and readings else None


def _is_on(weekday: int, day: Moment) -> bool:
    try:
        return day.part == "day" and bool(day.a) and date(day.a, day.b, day.c).weekday() == weekday
    except ValueError:  # 30 February
        return False


def _first(tokens: Tokens, i: int, numerals: Numerals, *, source: bool) -> tuple[Moments, int] | None:
    """3 in "3-5 May 2020" and "between 3 and 5 May"; 9 in "9 to 5 pm" and "9–17 Uhr"."""
    day, after = day_of(tokens, i)
    at = after + 1
    if tokens.word(after) not in _JOINS or tokens.kind(at) != "digits":
        return None
    if tokens.raw(after) in _DASHES and tokens.glued(after) != tokens.glued(at):
        return None
    found = moment(tokens, at, numerals, source=source)
    if found is None:
        return None
    last = found[0][0]
    if last.part == "day" and last.a >= 0 and 0 < day < last.c:
        return (Moment("day", last.a, last.b, day),), after
    hour = int(tokens.raw(i))
    if last.part == "time" and after == i + 1 and hour <= clock.HOURS and clock.said(tokens, at + 1):
        return clock.of_day(hour), after
    return None


def _last_day(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """5 in "May 3-5, 2020"."""
    month = MONTHS.get(tokens.word(i - 3), 0) if i > len(("May", "3")) else 0
    first, last = tokens.raw(i - 2), int(tokens.raw(i))
    dash = tokens.raw(i - 1) in _DASHES and tokens.glued(i) == tokens.glued(i - 1)
    if not (month and dash and first.isdigit() and tokens.gap(i - 2) in {" ", ". "}):
        return None
    return with_year(tokens, i + 1, month, last) if 0 < int(first) < last <= MOST_DAYS else None
