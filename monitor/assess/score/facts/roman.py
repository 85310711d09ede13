"""Roman numerals in names: World War II and World War 2, Phase III and phase 3, siglo XIX and the 19th century."""

from __future__ import annotations

import re
from collections.abc import Iterator

from monitor.assess.score.facts.language import listed

_ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
_MOST = 39
_ROMAN = {tens * "X" + ones: 10 * tens + n for tens in range(4) for n, ones in enumerate(_ONES)}  # up to XXXIX
_SUFFIX = re.compile(r"(?:e|ème|er|th|st|nd|rd)$")  # XIXe siècle
# After these words a single letter is a numeral too. After other words "IV" is as often something else.
_COUNTED = listed(
    """phase type class part chapter section stage grade level title volume book act article table appendix war"""
)
_LONGEST_WORD = 30
# They begin with a space, which is found quickly; the word before it is looked at afterwards.
_NUMERAL = re.compile(r"[ ]([IVX]{1,7})\b")
_FIGURES = re.compile(r"[ ](\d{1,2})(?![\w%]|[.,:]\d)")
_LAST_WORD = re.compile(r"[^\W\d_]\w*+\Z")


def roman(word: str, *, least: int = 2) -> int:
    """The value of a numeral of at least so many letters; 0 for other words."""
    return _ROMAN.get(word, 0) if len(word) >= least else 0


def ordinal(word: str) -> int:
    """The value of a numeral with or without the ending of an ordinal, which may have one letter (Ve siècle)."""
    return roman(_SUFFIX.sub("", word), least=1)


def values(text: str) -> Iterator[int]:
    """What the numerals after a word such as "phase" are in figures."""
    for found in _NUMERAL.finditer(text):
        if (value := roman(found[1], least=1)) and _word_before(text, found.start()).lower() in _COUNTED:
            yield value


def spelled(text: str) -> Iterator[str]:
    """The numerals, in lower case, for the figures after a name or a word such as "phase"."""
    for found in _FIGURES.finditer(text):
        word = _word_before(text, found.start()) if 1 < int(found[1]) <= _MOST else ""
        if word[:1].isupper() or word.lower() in _COUNTED:
            yield ("X" * (int(found[1]) // 10) + _ONES[int(found[1]) % 10]).lower()


def _word_before(text: str, end: int) -> str:
    found = _LAST_WORD.search(text[max(0, end - _LONGEST_WORD) : end])
    return found[0] if found else ""
