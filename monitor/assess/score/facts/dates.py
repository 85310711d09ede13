"""Reads dates and times of day, complete or partial, in seven European languages and East Asian ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from monitor.assess.score.facts.calendar_names import ABBREVIATED_MONTHS, MONTHS, WEEKDAYS
from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.han import han
from monitor.assess.score.facts.quantities.numerals import Numeral, Numerals
from monitor.assess.score.facts.tokens import Tokens

Part = Literal["day", "month", "year", "decade", "tens", "century", "quarter", "weekday", "time"]


class Moment(NamedTuple):
    """One reading of a date: the part that it states, and its figures. A year that is not stated is 0.

    day: year, month, day. month: year, month. year: year. decade: year / 10. tens: the decade within its century
    ("the nineties": 9). century: its ordinal. quarter: year, quarter. weekday: Monday is 0. time: hour, minute.
    """

    part: Part
    a: int
    b: int = 0
    c: int = 0


Moments = tuple[Moment, ...]

FIRST_YEAR, LAST_YEAR = 1000, 2100  # four bare figures in this range are a year
MOST_DAYS, MOST_MONTHS, HOURS, MINUTES = 31, 12, 24, 60
_HALF = 30  # two figures below this are a year of the 2000s
_CENTURY_YEARS = 100
_TWO, _FOUR = 2, 4  # figures of a day or hour, and of a year
_VERBS = frozenset(("may", "march", "mar"))  # "ten march" is no day
# Names of months that are other words as well: alone, they are months only with a capital.
_ALSO_WORDS = listed(
    """jan jän gen ene feb fev févr mar mär mrt mars march marzo apr avr abr may mayo mai mei jun giu jul juil lug aug
    august sep sept oct okt ott nov dec dez dic déc"""
)
_SHORT_WEEKDAYS = {name: day for day, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
_DECADES = {
    name: tens
    for tens, name in enumerate(("twenties", "thirties", "forties", "fifties", "sixties", "seventies"), start=2)
} | {"eighties": 8, "nineties": 9}
_ORDINAL = frozenset(("st", "nd", "rd", "th", "er", "e", "ème", "º"))
_OF = frozenset(("of", "de", "di", "del", "do", "des", "van"))
_IN = listed(
    """in by of since until from last next early late mid to through and between before after during each every im en em
    le ab bis seit"""
)
_DASHES = frozenset("-–/")
_CENTURY = listed("century centuries jahrhundert jahrhunderts siècle siglo século secolo eeuw")
_MERIDIEM = re.compile(r"\s?([ap])\.?\s?m\b\.?", re.IGNORECASE)
_CLOCK_WORD = re.compile(r"\s?(?:o['’]clock|uhr)\b", re.IGNORECASE)
_FIGURES = re.compile(r"\d+")
_QUARTER = re.compile(r"[QT][1-4]")
_NOON = {"noon": 12, "midday": 12, "midnight": 0}
_FIXED = (
    {name: Moment("weekday", day) for name, day in WEEKDAYS.items()}
    | {name: Moment("tens", tens) for name, tens in _DECADES.items()}
    | {name: Moment("time", hour) for name, hour in _NOON.items()}
)

STARTS = frozenset((*MONTHS, *WEEKDAYS, *_SHORT_WEEKDAYS, *_DECADES, *_NOON)) | {
    *("segunda", "terça", "quarta", "quinta", "sexta")
}  # lower-case words that may begin a date


def moment(tokens: Tokens, i: int, numerals: Numerals, *, source: bool) -> tuple[Moments, int] | None:
    """The date or time that begins at token `i`, in all its readings, and the token after it."""
    kind = tokens.kind(i)
    if kind == "word":
        return _from_word(tokens, i, numerals, source=source)
    reader = _READERS.get(kind or "")
    return reader(tokens, i) if reader else None


def worded(tokens: Tokens, numeral: Numeral) -> tuple[Moments, int] | None:
    """The date of which a number in words is a part: the third of May, cinco de mayo, the nineteenth century."""
    after = numeral.after
    if numeral.ordinal and tokens.word(after) in _CENTURY:
        return (Moment("century", int(numeral.value)),), after + 1
    if not 1 <= numeral.value <= MOST_DAYS or numeral.value % 1:
        return None
    month_at = after + 1 if tokens.word(after) in _OF else after
    month = MONTHS.get(tokens.word(month_at), 0)
    if not month or not _close(tokens, month_at) or (not numeral.ordinal and tokens.word(month_at) in _VERBS):
        return None
    return _with_year(tokens, month_at + 1, month, int(numeral.value))


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
        return [stated, *implied(Moment("decade", a // 10)), Moment("century", (a + 99) // 100)]
    if part == "decade":
        return [stated, Moment("tens", a % 10), Moment("century", a // 10 + 1)]
    if part == "quarter":
        return [stated, Moment("quarter", 0, b), *(implied(Moment("year", a)) if a else ())]
    return [stated]


def _year(tokens: Tokens, i: int) -> int:
    """The year at token `i`; 0 if there is none."""
    raw = tokens.raw(i)
    return int(raw) if tokens.kind(i) == "digits" and len(raw) == _FOUR and FIRST_YEAR <= int(raw) <= LAST_YEAR else 0


def _day(tokens: Tokens, i: int) -> tuple[int, int]:
    """The day of a month at token `i` and the token after it; (0, i) if there is none."""
    raw = tokens.raw(i)
    if tokens.kind(i) != "digits" or len(raw) > _TWO or not 1 <= int(raw) <= MOST_DAYS:
        return 0, i
    i += 1
    return int(raw), i + 1 if tokens.glued(i) and tokens.word(i) in _ORDINAL else i


def _from_figures(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """5 pm, 3 May 2020, 3rd of May, 3. Mai, 5月, 19th century, '90s, 1990s, 2020."""
    if clock := _time(tokens, i):
        return clock
    day, after = _day(tokens, i)
    if day:
        month_at = after + 1 if tokens.word(after) in _OF else after
        name = tokens.word(month_at)
        if (month := MONTHS.get(name) or ABBREVIATED_MONTHS.get(name, 0)) and _close(tokens, month_at):
            found = _with_year(tokens, month_at + 1, month, day)
            if name in MONTHS or found[0][0].a:
                return found
        if tokens.word(after) in _CENTURY:
            return (Moment("century", day),), after + 1
        if day <= MOST_MONTHS and tokens.text[tokens.end(i) : tokens.end(i) + 1] in {"月", "월"}:
            return (Moment("month", 0, day),), i + 1
    return _decade(tokens, i)


def _decade(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    raw, plural = tokens.raw(i), tokens.word(i + 1) == "s"
    if len(raw) == _TWO and raw[1] == "0" and plural and (tokens.glued(i + 1) or _apostrophe(tokens, i)):
        return (Moment("tens", int(raw[0])),), i + 2
    if len(raw) == _TWO and tokens.raw(i - 1) in _DASHES and tokens.glued(i) and tokens.glued(i - 1):  # 2019-20
        first = _year(tokens, i - 2)
        if first and int(raw) > first % 100:
            return (Moment("year", first - first % 100 + int(raw)),), i + 1
    year = _year(tokens, i)
    if not year:
        return None
    if plural and (tokens.glued(i + 1) or tokens.gap(i + 1) in {"'", "’"}):
        decade = Moment("decade", year // 10)
        return ((decade, Moment("century", year // 100 + 1)) if year % 100 == 0 else (decade,)), i + 2
    return (Moment("year", year),), i + 1


def _chinese_year(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """二〇二〇年."""
    raw = tokens.raw(i)
    year = han(raw) if len(raw) == _FOUR and tokens.text[tokens.end(i) : tokens.end(i) + 1] == "年" else None
    return ((Moment("year", year),), i + 1) if year and FIRST_YEAR <= year <= LAST_YEAR else None


def _apostrophe(tokens: Tokens, i: int) -> bool:
    return tokens.gap(i)[-1:] in {"'", "’", "‘"}


def _close(tokens: Tokens, i: int) -> bool:
    return tokens.gap(i) in {" ", "", ". ", "\u00a0", "."} or tokens.raw(i - 1) in {"-", "/"}


def _with_year(tokens: Tokens, i: int, month: int, day: int) -> tuple[Moments, int]:
    """The date with the year at token `i`, if there is one."""
    at = i + 1 if tokens.word(i) in _OF or (tokens.raw(i) in {"-", "/"} and tokens.glued(i)) else i
    year = _year(tokens, at)
    if year and tokens.gap(at) in {" ", ", ", ". ", ",", "", " , ", "\u00a0"}:
        return (Moment("day", year, month, day) if day else Moment("month", year, month),), at + 1
    return (Moment("day", 0, month, day) if day else Moment("month", 0, month),), i


def _from_word(tokens: Tokens, i: int, numerals: Numerals, *, source: bool) -> tuple[Moments, int] | None:
    word = tokens.word(i)
    if word in MONTHS:
        return _from_month(tokens, i, MONTHS[word], numerals, source=source)
    if word in _FIXED:
        return (_FIXED[word],), i + 1
    if tokens.raw(i + 1) == "-" and (day := _FIXED.get(f"{word}-{tokens.word(i + 2)}")):
        return (day,), i + 3
    if source and word in _SHORT_WEEKDAYS and tokens.raw(i)[0].isupper():
        return (Moment("weekday", _SHORT_WEEKDAYS[word]),), i + 1
    return None


def _from_month(tokens: Tokens, i: int, month: int, numerals: Numerals, *, source: bool) -> tuple[Moments, int] | None:
    """May 3rd, 2020; May third; May 2020; May."""
    if not _close(tokens, i + 1) and tokens.gap(i + 1) != ", ":
        return _bare_month(tokens, i, month, source=source)
    day, after = _day(tokens, i + 1)
    if day and _close(tokens, i + 1) and not tokens.raw(after).startswith(("%", ":")):
        return _with_year(tokens, after, month, day)
    worded_day = numerals.at(i + 1) if tokens.gap(i + 1) == " " else None
    if worded_day and worded_day.ordinal and worded_day.value <= MOST_DAYS:
        return _with_year(tokens, worded_day.after, month, int(worded_day.value))
    readings, after = _with_year(tokens, i + 1, month, 0)
    return (readings, after) if readings[0].a else _bare_month(tokens, i, month, source=source)


def _bare_month(tokens: Tokens, i: int, month: int, *, source: bool) -> tuple[Moments, int] | None:
    """The name of a month alone, unless it is more likely another word (May, March, Mars)."""
    raw = tokens.raw(i)
    if raw.lower() in _ALSO_WORDS and not (raw[0].isupper() and (source or tokens.word(i - 1) in _IN)):
        return None
    return (Moment("month", 0, month),), i + 1


def _numeric(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """2020-05-03, 3.5.2020, 05/03/2020 in both readings, 2020年5月3日."""
    raw = tokens.raw(i)
    parts = [int(figures) for figures in _FIGURES.findall(raw)]
    if raw[-1] in "월月":
        return (Moment("month", parts[0], parts[1]),), i + 1
    if len(parts) == _TWO:
        return (Moment("day", 0, parts[0], parts[1]),), i + 1
    if parts[0] > MOST_DAYS:
        orders = [(parts[0], parts[1], parts[2])]
    else:
        year = parts[2] if parts[2] >= _CENTURY_YEARS else parts[2] + (2000 if parts[2] < _HALF else 1900)
        orders = [(year, parts[1], parts[0]), (year, parts[0], parts[1])]
    found = tuple(
        dict.fromkeys(
            Moment("day", year, month, day)
            for year, month, day in orders
            if 1 <= month <= MOST_MONTHS and 1 <= day <= MOST_DAYS
        )
    )
    return (found, i + 1) if found else None


def _time(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """17:00, 5 pm, 5:30 p.m., 5 o'clock, 17 Uhr, 17.30 Uhr, 17h30. Without am or pm, both halves of the day."""
    end, kind = tokens.end(i), tokens.kind(i)
    meridiem = _MERIDIEM.match(tokens.text, end)
    said = meridiem or _CLOCK_WORD.match(tokens.text, end)
    if not said and kind != "clock":
        return None
    parts = [int(figures) for figures in _FIGURES.findall(tokens.raw(i)) if len(figures) <= _TWO]
    if not parts or parts[0] > HOURS or max(parts) >= MINUTES:
        return None
    hour, minute = parts[0], parts[1] if len(parts) > 1 else 0
    after = i + 1
    while said and after < len(tokens) and tokens.start(after) < said.end():
        after += 1
    if meridiem:
        noon = 12 if meridiem[1].lower() == "p" else 0
        return (Moment("time", hour % 12 + noon, minute),), after
    return of_day(hour, minute), after


def of_day(hour: int, minute: int = 0) -> Moments:
    """A time without am or pm, in both halves of the day."""
    if 1 <= hour <= HOURS // 2:
        return Moment("time", hour, minute), Moment("time", (hour + 12) % HOURS, minute)
    return (Moment("time", hour % HOURS, minute),)


def _quarter(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    if not _QUARTER.fullmatch(tokens.raw(i)):
        return None
    year = _year(tokens, i + 1)
    return (Moment("quarter", year, int(tokens.raw(i)[1])),), i + 2 if year else i + 1


_READERS: dict[str, Callable[[Tokens, int], tuple[Moments, int] | None]] = {
    "digits": _from_figures,
    "day": _numeric,
    "clock": _time,
    "number": _time,
    "identifier": _quarter,
    "han": _chinese_year,
}
