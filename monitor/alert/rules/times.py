"""Reads `time_intervals` as Alertmanager writes them.

Its YAML is read as texts; in YAML 1.1 `17:00` and `1:5` without quotes are numbers to the base of 60, which are turned
back here.
"""

from __future__ import annotations

import re
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo

from monitor.alert.mute import DAY, Range

_TIME = re.compile(r"(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00")
_WEEKDAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_BASE = 60
_TEN = 10 * _BASE  # `09:00` is a text, since a number begins with no 0
_FIRST_YEAR = 1_900  # smaller numbers are ranges of days or months
_LONGEST_MONTH = 31


def minute_of_day(value: object) -> int:
    """`09:30` → 570; up to `24:00`.

    Raises:
        ValueError: it is no time of the day.
    """
    if isinstance(value, int) and not isinstance(value, bool) and _TEN <= value <= DAY:
        return value
    if not isinstance(value, str) or _TIME.fullmatch(value) is None:
        raise ValueError(f"{value!r} is not a time of the day: write it as '09:30', up to '24:00'")
    hours, minutes = value.split(":")
    return int(hours) * _BASE + int(minutes)


def weekdays(value: object) -> Range:
    """`monday:friday` → (1, 5), `sunday` → (0, 0).

    Raises:
        ValueError: it is no range of weekdays, or ends before it begins.
    """
    return _in_order(_ends(value, "weekday", _WEEKDAYS, first=0), value)


def months(value: object) -> Range:
    """`may:august`, `5:8` → (5, 8).

    Raises:
        ValueError: it is no range of months, or ends before it begins.
    """
    found = _in_order(_ends(value, "month", _MONTHS, first=1), value)
    if found[0] < 1 or found[1] > len(_MONTHS):
        raise ValueError(f"{value!r} is not a month: 1 to 12, or january to december")
    return found


def years(value: object) -> Range:
    """`2026:2027` → (2026, 2027).

    Raises:
        ValueError: it is no range of years, or ends before it begins.
    """
    return _in_order(_ends(value, "year", (), first=0), value)


def days_of_month(value: object) -> Range:
    """`1:5` → (1, 5), `-3:-1` → (-3, -1), the last three days.

    Raises:
        ValueError: a day is not one of ±1 to ±31, or the range always ends before it begins.
    """
    first, last = _ends(value, "day of the month", (), first=0)
    if not all(1 <= abs(day) <= _LONGEST_MONTH for day in (first, last)):
        raise ValueError(f"{value!r} is not a day of the month: 1 to 31, or -1 for the last to -31")
    if first < 0 < last:
        raise ValueError(f"{value!r} begins with a day counted from the end of the month, and so must end with one")
    begins, ends = (day if day > 0 else _LONGEST_MONTH + 1 + day for day in (first, last))
    if begins > ends:
        raise ValueError(f"{value!r} ends before it begins")
    return first, last


def location(value: object) -> tzinfo:
    """The time zone of a name of the IANA database.

    Raises:
        ValueError: there is none of that name.
    """
    try:
        return UTC if value == "UTC" else ZoneInfo(value if isinstance(value, str) else "")
    except (KeyError, OSError, ValueError):
        raise ValueError(f"{value!r} is not a time zone that this machine knows: write it as Europe/Berlin") from None


def _ends(value: object, kind: str, names: tuple[str, ...], *, first: int) -> Range:
    if isinstance(value, int) and _BASE <= value < _FIRST_YEAR:
        value = f"{value // _BASE}:{value % _BASE}"
    begin, colon, end = str(value).lower().partition(":")
    found = _member(begin.strip(), kind, names, first=first)
    return found, _member(end.strip(), kind, names, first=first) if colon else found


def _member(text: str, kind: str, names: tuple[str, ...], *, first: int) -> int:
    if text in names:
        return names.index(text) + first
    if kind != "weekday" and re.fullmatch("-?[0-9]{1,4}", text):
        return int(text)
    known = f": {names[0]} to {names[-1]}" if names else ""
    raise ValueError(f"{text!r} is not a {kind}{known}")


def _in_order(found: Range, value: object) -> Range:
    if found[0] > found[1]:
        raise ValueError(f"{value!r} ends before it begins: write two ranges")
    return found
