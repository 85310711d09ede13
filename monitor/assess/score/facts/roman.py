"""Roman numerals in names: World War II and World War 2, Phase III and phase 3, siglo XIX and the 19th century."""

from __future__ import annotations

import re
from collections.abc import Iterator

_ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
_MOST = 39
_ROMAN = {tens * "X" + ones: 10 * tens + n for tens in range(4) for n, ones in enumerate(_ONES)}  # up to XXXIX
_SUFFIX = re.compile(r"(?:e|ème|er|th|st|nd|rd)$")  # XIXe siècle
# After these words a single letter is a numeral too. After other words "IV" is as often something else.
_COUNTED = (
    "(?:phase|type|class|part|chapter|section|stage|grade|level|title|volume|book|act|article|table|appendix|war)"
)
_NUMBERED = re.compile(rf"\b(?i:{_COUNTED})[ ]([IVX]{{1,7}})\b")
_IN_FIGURES = re.compile(rf"\b(?:(?i:{_COUNTED})|[^\W\d_a-zß-öø-ÿ]\w{{1,30}}+)[ ](\d{{1,2}})(?![\w%]|[.,:]\d)")


def roman(word: str, *, least: int = 2) -> int:
    """The value of a numeral of at least so many letters; 0 for other words."""
    return _ROMAN.get(word, 0) if len(word) >= least else 0


def ordinal(word: str) -> int:
    """The value of a numeral with or without the ending of an ordinal, which may have one letter (Ve siècle)."""
    return roman(_SUFFIX.sub("", word), least=1)


def values(text: str) -> Iterator[int]:
    """What the numerals after a word such as "phase" are in figures."""
    for found in _NUMBERED.finditer(text):
        if value := roman(found[1], least=1):
            yield value


def spelled(text: str) -> Iterator[str]:
    """The numerals, in lower case, for the figures after a name or a word such as "phase"."""
    for found in _IN_FIGURES.finditer(text):
        if 1 < (value := int(found[1])) <= _MOST:
            yield ("X" * (value // 10) + _ONES[value % 10]).lower()
