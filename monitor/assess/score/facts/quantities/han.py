"""Reads numbers written in Chinese characters."""

from __future__ import annotations

import re

_DIGITS = {**{c: n for n, c in enumerate("〇一二三四五六七八九")}, "零": 0, "两": 2, "兩": 2}
_PLACES = {"十": 10, "百": 100, "千": 1000, "백": 100, "천": 1000}
_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12, "만": 10**4, "억": 10**8, "조": 10**12}
_SIGNS = "".join((*_PLACES, *_GROUPS))
_PIECE = rf"\d[\d,.]{{0,14}}+[{_SIGNS}]{{1,2}}"
_MIXED = re.compile(rf"{_PIECE}(?:[ ]?{_PIECE}){{0,4}}(?:\d{{3,4}}(?!\d))?")
_PART = re.compile(rf"(\d[\d,.]*)([{_SIGNS}]*)")
LONGEST_HAN = 20
_KNOWN = frozenset((*_DIGITS, *_PLACES, *_GROUPS))


def han(written: str) -> int | None:
    """The value of a number in Chinese characters (三百二十, 二〇二〇, 一亿二千万); None if it is not a number."""
    if len(written) > LONGEST_HAN or not all(c in _KNOWN for c in written):
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


def mixed(text: str, start: int) -> tuple[float, float, int] | None:
    """A number at `start` in figures and characters (1億2000万, 2억 5천만), the place value of its last, its end."""
    found = _MIXED.match(text, start)
    if found is None:
        return None
    total, least, step, end = 0.0, float("inf"), 1.0, start
    for part in _PART.finditer(found[0]):
        by = 1.0
        for sign in part[2]:
            by *= group(sign) or 1
        plain = part[1].replace(",", "").rstrip(".")
        if plain.count(".") > 1 or float(plain) * by >= least:  # "5万10万" are two numbers
            break
        total, least, step = total + float(plain) * by, by, by * 10.0 ** -len(plain.partition(".")[2])
        end = start + part.end()
    return (round(total, 6), step, end) if end > start else None


def group(character: str) -> int | None:
    """The factor of 万 or 亿 after figures (3万 is 30,000)."""
    return _GROUPS.get(character) or _PLACES.get(character)
