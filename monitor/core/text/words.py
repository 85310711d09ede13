"""Splits a text into word stems, in scripts with and without spaces between words."""

from __future__ import annotations

import re
from unicodedata import normalize

STEM = 6  # the first letters of a word, which stand for all its inflections

_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"  # Thai, kana, Chinese characters
_WORD = re.compile(rf"[^\W_{_UNSPACED}]+|[{_UNSPACED}]+")
_ASCII_STEM = re.compile(rf"([a-z0-9]{{1,{STEM}}})[a-z0-9]*+")
_MARKS = re.compile(r"([^\w\s]{30})[^\w\s]+")
_FIRST_UNSPACED = re.compile(f"[{_UNSPACED}]")


def stems(text: str) -> list[str]:
    """The stems of the words in order, in lower case; pairs of characters in scripts without spaces."""
    folded = text.casefold()
    if folded.isascii():
        return _ASCII_STEM.findall(folded)
    folded = normalize("NFC", few_marks(folded))  # joins letters with separate accents, as in texts from PDF
    found: list[str] = []
    for word in _WORD.findall(folded):
        if _FIRST_UNSPACED.match(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        else:
            found.append(word[:STEM])
    return found


def few_marks(text: str) -> str:
    """`text` with at most 30 combining marks, or other signs that are no part of a word, in a row.

    To normalise a longer run takes time quadratic in its length, and no letter is written with so many.
    """
    return _MARKS.sub(r"\1", text)
