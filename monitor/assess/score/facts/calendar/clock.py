"""Reads times of day in figures and words: 17:00, 5 pm, five o'clock, 17.30 Uhr, 17h30."""

from __future__ import annotations

import re
from typing import Final

from monitor.assess.score.facts.calendar.moment import Moment, Moments
from monitor.assess.score.facts.tokens import Tokens

HOURS: Final = 24
MINUTES: Final = 60
_MOST_FIGURES = 2  # of an hour
_MERIDIEM = re.compile(r"\s?([ap])\.?\s?m\b\.?", re.IGNORECASE)
_CLOCK_WORD = re.compile(r"\s?(?:o['’]clock|uhr)\b", re.IGNORECASE)
_FIGURES = re.compile(r"\d+")
_NOON = 12
_ASIAN = re.compile(r"\s?([点點時时시])(?![间間刻간])(?:\s?(\d{1,2})\s?[分분])?")
_AFTERNOON, _MORNING = ("下午", "晚上", "午後", "오후"), ("上午", "早上", "午前", "오전")
_LONGEST_HALF = 3  # characters of such a word, with a space


def time(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """17:00, 5 pm, 5:30 p.m., 5 o'clock, 17 Uhr, 17h30, 下午5点. Without am or pm, both halves of the day."""
    mark = said(tokens, i + 1)
    if not mark and tokens.kind(i) != "clock":
        return _asian(tokens, i)
    parts = [int(figures) for figures in _FIGURES.findall(tokens.raw(i)) if len(figures) <= _MOST_FIGURES]
    if not parts or parts[0] > HOURS or max(parts) >= MINUTES:
        return None
    return read(tokens, mark, parts[0], parts[1] if len(parts) > 1 else 0, i + 1)


def said(tokens: Tokens, i: int) -> re.Match[str] | None:
    """The am, pm or o'clock after the number that ends before token `i`."""
    end = tokens.end(i - 1)
    return _MERIDIEM.match(tokens.text, end) or _CLOCK_WORD.match(tokens.text, end)


def read(tokens: Tokens, mark: re.Match[str] | None, hour: int, minute: int, after: int) -> tuple[Moments, int]:
    """The time `hour:minute`, whose figures end before token `after`, with the mark that `said` found there."""
    if mark is None:
        return of_day(hour, minute), after
    after = tokens.from_character(after, mark.end())
    if mark.re is _MERIDIEM:
        return (Moment("time", hour % _NOON + (_NOON if mark[1].lower() == "p" else 0), minute),), after
    return of_day(hour, minute), after


def _asian(tokens: Tokens, i: int) -> tuple[Moments, int] | None:
    """15时30分, 17時, 下午5点, 午後5時, 오후 5시. 5点 alone is more often a count."""
    raw, start = tokens.raw(i), tokens.start(i)
    mark = _ASIAN.match(tokens.text, tokens.end(i)) if len(raw) <= _MOST_FIGURES and raw.isdigit() else None
    if mark is None or int(raw) > HOURS or int(mark[2] or 0) >= MINUTES:
        return None
    before = tokens.text[max(0, start - _LONGEST_HALF) : start].rstrip()
    afternoon, morning = before.endswith(_AFTERNOON), before.endswith(_MORNING)
    if mark[1] in "点點" and not (mark[2] or afternoon or morning):
        return None
    hour, minute, after = int(raw), int(mark[2] or 0), tokens.from_character(i + 1, mark.end())
    if afternoon or morning:
        return (Moment("time", hour % _NOON + _NOON * afternoon, minute),), after
    return of_day(hour, minute), after


def of_day(hour: int, minute: int = 0) -> Moments:
    """A time without am or pm, in both halves of the day."""
    if 1 <= hour <= _NOON:
        return Moment("time", hour, minute), Moment("time", (hour + _NOON) % HOURS, minute)
    return (Moment("time", hour % HOURS, minute),)
