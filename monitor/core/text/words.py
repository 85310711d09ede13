"""Words of a text, for scripts with spaces between words and without."""

from __future__ import annotations

import re
from unicodedata import normalize

STEM = 6  # first letters that stand for a word's inflections

_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"  # Thai, kana, Chinese characters
_WORD = re.compile(rf"[^\W_{_UNSPACED}]+|[{_UNSPACED}]+")
_FIRST_UNSPACED = re.compile(f"[{_UNSPACED}]")


def stems(text: str) -> list[str]:
    """Stems of the words in order, in small letters; pairs of characters where a script has no spaces."""
    folded = text.casefold()
    if folded.isascii():
        return [word[:STEM] for word in _WORD.findall(folded)]
    folded = normalize("NFC", folded)  # accents of their own, as in texts taken from PDF, are letters' again
    found: list[str] = []
    for word in _WORD.findall(folded):
        if _FIRST_UNSPACED.match(word):
            found += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        else:
            found.append(word[:STEM])
    return found
