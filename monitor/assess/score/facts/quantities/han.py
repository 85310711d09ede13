"""Reads numbers written in Chinese characters."""

from __future__ import annotations

_DIGITS = {**{c: n for n, c in enumerate("〇一二三四五六七八九")}, "零": 0, "两": 2, "兩": 2}
_PLACES = {"十": 10, "百": 100, "千": 1000}
_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
LONGEST_HAN = 20


def han(written: str) -> int | None:
    """The value of a number in Chinese characters (三百二十, 二〇二〇, 一亿二千万); None if it is not a number."""
    if len(written) > LONGEST_HAN:
        return None
    if len(written) > 1 and all(c in _DIGITS for c in written):
        return int("".join(str(_DIGITS[c]) for c in written))
    total = group = digit = 0
    for c in written:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _PLACES:
            group += (digit or 1) * _PLACES[c]
            digit = 0
        else:
            section = group + digit
            total = total + (section or 1) * _GROUPS[c] if total > _GROUPS[c] else (total + section or 1) * _GROUPS[c]
            group = digit = 0
    return total + group + digit


def group(character: str) -> int | None:
    """The factor of 万 or 亿 after figures (3万 is 30,000)."""
    return _GROUPS.get(character) or _PLACES.get(character)
