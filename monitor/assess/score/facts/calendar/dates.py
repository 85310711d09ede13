"""Reads dates and times of day, complete or partial, in seven European languages and East Asian ones."""

from __future__ import annotations

import re
from collections.abc import Callable

from monitor.assess.score.facts.calendar import clock
from monitor.assess.score.facts.calendar.moment import Moment, Moments
from monitor.assess.score.facts.calendar.names import ABBREVIATED_MONTHS, MONTHS, WEEKDAYS
from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.han import han
from monitor.assess.score.facts.quantities.numerals import Numeral, Numerals
from monitor.assess.score.facts.roman import ordinal
from monitor.assess.score.facts.tokens import FIGURES, Tokens

FIRST_YEAR, LAST_YEAR = 1000, 2100  # four bare figures in this range are a year
MOST_DAYS, MOST_MONTHS = 31, 12
_NOON_HOUR = 12
_HALF = 30  # two figures below this are a year of the 2000s
_CENTURY_YEARS = 100
_TWO, _FOUR = 2, 4  # figures of a day or hour, and of a year
_VERBS = frozenset(("may", "march", "mar"))  # "ten march" is no day
# Names of months that are other words as well: alone, they are months only with a capital.
_ALSO_WORDS = listed(
    """jan jän gen ene feb fev févr mar mär mrt mars march marzo apr avr abr may mayo mai mei jun giu jul juil lug aug
    august sep sept oct okt ott nov dec dez dic déc"""
)
SHORT_WEEKDAYS = {name: day for day, name in enumerate(("mon", "tue", "wed", "thu", "fri", "sat", "sun"))}
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
_QUARTERS = listed("quarter quartal quartals trimestre")
_CENTURY = listed("century centuries jahrhundert jahrhunderts siècle siglo século secolo eeuw")
_CENTURY_BEFORE = listed("siècle siglo século secolo")  # before its number: "the century I live in" has none
_CHARACTERS = re.compile(
    r"(?:([〇零一二三四五六七八九]{4})年)?(?:([一二三四五六七八九十]{1,3})月(?:([一二三四五六七八九十]{1,3})[日号號])?)?"
)
_BEFORE_CHRIST = re.compile(r"[ \u00a0]?(?:BCE?\b|B\.[ ]?C\.(?:[ ]?E\.)?|v\.[ ]?Chr\.|av\.[ ]?J\.?-C\.?|a\.[ ]?C\.)")
_LONGEST_BEFORE_CHRIST = 6  # characters of such a year: 10,000
_FIGURES = re.compile(r"\d+")
_QUARTER = re.compile(r"[QT][1-4]")
_NOON = {"noon": 12, "midday": 12, "midnight": 0}
_FIXED = (
    {name: Moment("weekday", day) for name, day in WEEKDAYS.items()}
    | {name: Moment("tens", tens) for name, tens in _DECADES.items()}
    | {name: Moment("time", hour) for name, hour in _NOON.items()}
)

STARTS = frozenset((*MONTHS, *WEEKDAYS, *SHORT_WEEKDAYS, *_DECADES, *_NOON)) | {
    *("segunda", "terça", "quarta", "quinta", "sexta")
}  # lower-case words that may begin a date


def moment(tokens: Tokens, i: int, numerals: Numerals, *, source: bool) -> tuple[Moments, int] | None:
    """The date or time that begins at token `i`, in all its readings, and the token after it."""
    kind = tokens.kind(i)
    if kind == "word":
        return _from_word(tokens, i, numerals, source=source)
    if kind in FIGURES and (ancient := _before_christ(tokens, i)):
        return ancient
    reader = _READERS.get(kind or "")
    return reader(tokens, i) if reader else None


def worded(tokens: Tokens, numeral: Numeral) -> tuple[Moments, int] | None:
    """The date of which a number in words is a part: the third of May, cinco de mayo, the nineteenth century."""
    after = numeral.after
    if numeral.ordinal and (part := _ordinal_part(tokens, after, int(numeral.value))):
        return part
    if not numeral.ordinal and numeral.value in range(1, _NOON_HOUR + 1) and (said := clock.said(tokens, after)):
        return clock.read(tokens, said, int(numeral.value), 0, after)
    if not 1 <= numeral.value <= MOST_DAYS or numeral.value % 1:
        return None
    month_at = after + 1 if tokens.word(after) in _OF else after
    month = MONTHS.get(tokens.word(month_at), 0)
    if not month or not _close(tokens, month_at) or (not numeral.ordinal and tokens.word(month_at) in _VERBS):
        return None
    return with_year(tokens, month_at + 1, month, int(numeral.value))


def _year(tokens: Tokens, i: int) -> int:
    """The year at token `i`; 0 if there is none."""
    raw = tokens.raw(i)
    return int(raw) if tokens.kind(i) == "digits" and len(raw) == _FOUR and FIRST_YEAR <= int(raw) <= LAST_YEAR else 0


def day_of(tokens: Tokens, i: int) -> tuple[int, int]:
    """The day of a month at token `i` and the token after it; (0, i) if there is none."""
    raw = tokens.raw(i)
    if tokens.kind(i) != "digits" or len(raw) > _TWO or not 1 <= int(raw) <= MOST_DAYS:
        return 0, i
    i += 1
    return int(raw), i + 1 if tokens.glued(i) and tokens.word(i) in _ORDINAL else i


def _from_figures(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """5 pm, 3 May 2020, 3rd of May, 3. Mai, 5月, 19th century, '90s, 1990s, 2020."""
    if time := clock.time(tokens, i):
        return time
    day, after = day_of(tokens, i)
    if day:
        month_at = after + 1 if tokens.word(after) in _OF or tokens.hyphen(after) else after
        name = tokens.word(month_at)
        if (month := MONTHS.get(name) or ABBREVIATED_MONTHS.get(name, 0)) and _close(tokens, month_at):
            found = with_year(tokens, month_at + 1, month, day)
            if name in MONTHS or found[0][0].a:
                return found
        if part := _ordinal_part(tokens, after, day):
            return part
        if day <= MOST_MONTHS and tokens.text[tokens.end(i) : tokens.end(i) + 1] in {"月", "월"}:
            return (Moment("month", 0, day),), i + 1
    return _decade(tokens, i)


def _decade(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    raw, plural = tokens.raw(i), tokens.word(i + 1) in {"s", "er"}
    if len(raw) == _TWO and raw[1] == "0" and plural and (tokens.glued(i + 1) or _apostrophe(tokens, i)):
        return (Moment("tens", int(raw[0])),), i + 2
    if len(raw) == _TWO and tokens.raw(i - 1) in _DASHES and tokens.glued(i) and tokens.glued(i - 1):  # 2019-20
        first = _year(tokens, i - 2)
        if first and int(raw) > first % 100:
            return (Moment("year", first - first % 100 + int(raw)),), i + 1
    year = _year(tokens, i)
    if not year:
        return None
    chinese = tokens.text.startswith("年代", tokens.end(i))
    if chinese or (plural and (tokens.glued(i + 1) or tokens.gap(i + 1) in {"'", "’"})):
        decade = Moment("decade", year // 10)
        readings = (decade, Moment("century", year // 100 + 1)) if year % 100 == 0 else (decade,)
        return readings, i + 1 if chinese else i + 2
    return (Moment("year", year),), i + 1


def _in_characters(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """Dates in words of Chinese and Japanese, such as 二〇二〇年 and 三月十五日."""
    found = _CHARACTERS.match(tokens.text, tokens.start(i))
    if found is None:
        return None
    year, month, day = (han(part) or 0 if part else 0 for part in found.groups())
    if (year and not FIRST_YEAR <= year <= LAST_YEAR) or month > MOST_MONTHS or day > MOST_DAYS:
        return None
    after = tokens.from_character(i + 1, found.end())
    if not month:
        return ((Moment("year", year),), after) if year else None
    return (Moment("day", year, month, day) if day else Moment("month", year, month),), after


def _apostrophe(tokens: Tokens, i: int) -> bool:
    return tokens.gap(i)[-1:] in {"'", "’", "‘"}


def _close(tokens: Tokens, i: int) -> bool:
    return tokens.gap(i) in {" ", "", ". ", "\u00a0", "."} or tokens.raw(i - 1) in {"-", "/"}


def with_year(tokens: Tokens, i: int, month: int, day: int) -> tuple[Moments, int]:
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
    if source and word in SHORT_WEEKDAYS and tokens.raw(i)[0].isupper():
        return (Moment("weekday", SHORT_WEEKDAYS[word]),), i + 1
    return None


def _from_month(tokens: Tokens, i: int, month: int, numerals: Numerals, *, source: bool) -> tuple[Moments, int] | None:
    """May 3rd, 2020; May third; May 2020; May."""
    if not _close(tokens, i + 1) and tokens.gap(i + 1) != ", ":
        return _bare_month(tokens, i, month, source=source)
    the_third = tokens.word(i + 1) == "the" and tokens.raw(i)[0].isupper() and tokens.word(i + 3) in _ORDINAL
    day, after = day_of(tokens, i + 2 if the_third or tokens.hyphen(i + 1) else i + 1)
    if day and _close(tokens, i + 1) and not tokens.raw(after).startswith(("%", ":")):
        return with_year(tokens, after, month, day)
    worded_day = numerals.at(i + 1) if tokens.gap(i + 1) == " " else None
    if worded_day and worded_day.ordinal and worded_day.value <= MOST_DAYS:
        return with_year(tokens, worded_day.after, month, int(worded_day.value))
    readings, after = with_year(tokens, i + 1, month, 0)
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


def roman_century(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """The century whose Roman numeral is at token `i`: XIXe siècle, siglo XIX, XIX century."""
    if tokens.raw(i)[0] not in "IVX":
        return None
    before, behind = tokens.word(i - 1) in _CENTURY_BEFORE, tokens.word(i + 1) in _CENTURY
    if not (before or behind) or not (number := ordinal(tokens.raw(i))):
        return None
    return (Moment("century", number),), i + 1 if before else i + 2


def _before_christ(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """44 BC, 3,000 B.C.E., 44 v. Chr."""
    raw = tokens.raw(i)
    era = _BEFORE_CHRIST.match(tokens.text, tokens.end(i)) if len(raw) <= _LONGEST_BEFORE_CHRIST else None
    figures = "".join(_FIGURES.findall(raw))
    if era is None or not int(figures):
        return None
    return (Moment("year", -int(figures)),), tokens.from_character(i + 1, era.end())


def _ordinal_part(tokens: Tokens, i: int, ordinal: int) -> tuple[Moments, int] | None:
    """The century or quarter of a year whose ordinal ends before token `i`: 5th century BC, first quarter of 2020."""
    if tokens.word(i) in _CENTURY:
        era = _BEFORE_CHRIST.match(tokens.text, tokens.end(i))
        if era:
            return (Moment("century", -ordinal),), tokens.from_character(i + 1, era.end())
        return (Moment("century", ordinal),), i + 1
    year_at = i + 2 if tokens.word(i + 1) in _OF else i + 1
    year = _year(tokens, year_at) if tokens.word(i) in _QUARTERS and ordinal <= _FOUR else 0
    return ((Moment("quarter", year, ordinal),), year_at + 1) if year else None


def _quarter(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    if not _QUARTER.fullmatch(tokens.raw(i)):
        return None
    year = _year(tokens, i + 1)
    return (Moment("quarter", year, int(tokens.raw(i)[1])),), i + 2 if year else i + 1


_READERS: dict[str, Callable[[Tokens, int], tuple[Moments, int] | None]] = {
    "digits": _from_figures,
    "day": _numeric,
    "clock": clock.time,
    "number": clock.time,
    "identifier": _quarter,
    "han": _in_characters,
}
