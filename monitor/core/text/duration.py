"""Parses and formats durations in Prometheus's notation: `30s`, `5m`, `1h30m`, `1d`."""

from __future__ import annotations

import re
from datetime import timedelta

_SECONDS = {"y": 365 * 86_400, "w": 7 * 86_400, "d": 86_400, "h": 3_600, "m": 60, "s": 1}
_FORM = re.compile("".join(f"(?:([0-9]{{1,9}}){unit})?" for unit in _SECONDS))
_LONGEST = timedelta(days=366)


def parse_duration(text: str, *, longest: timedelta = _LONGEST) -> timedelta:
    """Parses `text`: units from large to small, each at most once; a bare `0` is the empty duration.

    Raises:
        ValueError: `text` is not a duration, or is longer than `longest` (default: 366 days).
    """
    match = _FORM.fullmatch(text)
    if text != "0" and (match is None or not text):
        raise ValueError(f"{text!r} is not a duration: write it as 30s, 5m, 1h30m or 1d")
    amounts = match.groups(default="0") if match else ()
    seconds = sum(int(amount) * unit for amount, unit in zip(amounts, _SECONDS.values(), strict=False))
    if seconds > longest.total_seconds():
        raise ValueError(f"{text!r} is longer than {_years(longest)}")
    return timedelta(seconds=seconds)


def format_duration(length: timedelta) -> str:
    """`length` in days and smaller units, rounded down to whole seconds; `0s` if negative."""
    rest = max(0, int(length.total_seconds()))
    parts = []
    for unit in ("d", "h", "m", "s"):
        amount, rest = divmod(rest, _SECONDS[unit])
        if amount:
            parts.append(f"{amount}{unit}")
    return "".join(parts) or "0s"


def spelled(length: timedelta) -> str:
    """`length` as a number of the largest unit that it holds twice or more: `19 years`, `36 hours`, `1 hour`."""
    seconds = length.total_seconds()
    for name, unit in (("year", "y"), ("week", "w"), ("day", "d"), ("hour", "h")):
        if seconds >= 2 * _SECONDS[unit]:
            return f"{seconds / _SECONDS[unit]:,.0f} {name}s"
        if seconds == _SECONDS[unit]:
            return f"1 {name}"
    return f"{seconds / 60:,.0f} minutes"


def _years(length: timedelta) -> str:
    years = length.days // 365
    return "a year" if years == 1 else f"{years} years"
