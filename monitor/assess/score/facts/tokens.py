"""Splits a text into words, figures and signs with their offsets, for the readers of facts."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Scripts without spaces or with particles attached to words. Their numerals are tokens, their words are not.
_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_HAN = "〇零一二两兩三四五六七八九十百千万萬亿億"
_LETTER = rf"[^\W\d_¼½¾⅐-⅞{_UNSPACED}]"
_CURRENCY = r"USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|BRL|MXN|Rs|Fr"

# What stands before a point that belongs to the figures after it (".5 mg", "$.50", "p<.05"), besides nothing.
_BEFORE_POINT = r"\s$€£¥<>=~≈±+−–\-("

_POWER = r"[ ]?[×x·*][ ]?10"
_GAP = r"[ \u00a0\u202f]"

# Possessive and bounded, so that a megabyte of digits, commas or hyphens costs one pass. Order matters: an alternative
# that matches more comes first. The characters between tokens belong to the match of the next token, and "other" keeps
# the search from starting again at each character of a long run.
_TOKEN = re.compile(
    rf"""
    (?:[\s,;!?()"'’]++ | \.(?!\d) | (?<=[^{_BEFORE_POINT}])\.)*+(?:
    (?P<word>{_LETTER}++(?:['’]{_LETTER}++)*+(?!\w) | {_LETTER}++(?=[{_UNSPACED}]) | (?:{_CURRENCY})(?=\d)
      | (?<=\d)(?:d|h|min|m)(?=\d{{1,2}}(?:h|min|m|sec|s)(?!{_LETTER})))                     # 1h30m
  | (?P<clock>(?:(?<=\d)T)?\d{{1,2}}:[0-5]\d(?::[0-5]\d)?(?!\d)
      | \d{{1,2}}(?:h | {_GAP}?h{_GAP}?(?!\d\d{_GAP}?m))[0-5]\d(?!\w))  # 9h30, 9 h 30; not 1 h 30 min
  | (?P<identifier>{_LETTER}[\w]*+(?:[._-]?\d\w*+)*+)
  | (?P<day>\d{{4}}\.[ ]\d{{1,2}}\.[ ]\d{{1,2}}(?!\d)                                       # 2020. 5. 3.
      | \d{{4}}(?P<cut>[-/.])\d{{1,2}}(?P=cut)\d{{1,2}}(?![\d])
      | \d{{1,2}}(?P<break>[-/.])\d{{1,2}}(?P=break)(?:\d{{4}}|\d{{2}})(?![\d.]*\d)
      | (?:\d{{4}}\s?[年년]\s?)?\d{{1,2}}\s?[月월]\s?\d{{1,2}}\s?[日号號일] | \d{{4}}\s?[年년]\s?\d{{1,2}}\s?[月월])
  | (?P<number>
        \d{{1,15}}(?:[.,]\d{{1,15}})?(?:e[+-]?|E[+-]|{_POWER}\^[-−]?)\d{{1,2}}(?![\w-])   # 1.5e6, 1.5 × 10^6
      | \d{{1,15}}(?:[.,]\d{{1,15}})?{_POWER}⁻?[⁰¹²³⁴-⁹]{{1,2}}(?!\w)                       # 1.5 × 10⁶
      | 10\^[-−]?\d{{1,2}}(?![\w-])                                                         # 10^6
      | \d{{1,3}}(?:,\d{{2,3}}){{1,8}}(?:\.\d{{1,15}})?(?![\d,.]*\d)
      | \d{{1,3}}(?:\.\d{{3}}){{2,8}}(?:,\d{{1,15}})?(?![\d,.]*\d)
      | \d{{1,3}}\.\d{{3}},\d{{1,15}}(?![\d,.]*\d)
      | [1-9]\d{{0,2}}(?:[ \u00a0\u2009\u202f'’]\d{{3}}){{1,8}}(?:[.,]\d{{1,15}})?(?!\d)
      | \d++[.,]\d++(?![.]\d)
      | \.\d++(?![.,]\d))
  | (?P<version>\d++(?:\.\d++){{2,}}+\w*+)
  | (?P<digits>\d++)
  | (?P<fraction>[¼½¾⅐-⅞] | 半(?=[个個]?(?:小时|小時|月)|時間|年|天|日) | (?<=時間|小时|小時)半 | (?<=[年天月])半)
  | (?P<han>[{_HAN}]++ | (?<=\d)[천백]?[만억조] | (?<=\d)[천백])                             # 5만
  | (?P<sign>[$€£¥₹₩¢℃℉%‰°~≈+−–—/:-])
  | (?P<other>(?:(?![{_HAN}半])[{_UNSPACED}])++ | . | \Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
# Without the full-width comma, which in Chinese separates numbers and is not part of them.
_NARROW = str.maketrans(
    {full: chr(full - 0xFEE0) for full in range(0xFF01, 0xFF5F) if full != ord("，")} | {"　": " ", "⁄": "/"}
)
HALF = "半"  # a fraction in Chinese and Japanese, beside a unit
AROUND = 12  # the most tokens that a reader looks ahead or back
FIGURES = frozenset({"number", "digits"})


class Tokens:
    """The tokens of one text by index; up to AROUND positions outside the range they are empty.

    Full-width characters are read as their narrow forms; offsets refer to the original text.
    """

    __slots__ = ("_kinds", "_raws", "_spans", "text")

    def __init__(self, text: str) -> None:
        self.text = text if text.isascii() else text.translate(_NARROW)
        self._spans: list[tuple[int, int]] = []
        self._kinds: list[str | None] = []
        self._raws: list[str] = []
        for match in _TOKEN.finditer(self.text):
            kind, number = match.lastgroup, match.lastindex or 0
            if kind != "other":
                self._spans.append(match.span(number))
                self._kinds.append(kind)
                self._raws.append(match[number])
        # The empty tokens at the end also serve as those before the first: index -1 is the last of them.
        self._kinds += [None] * AROUND
        self._raws += [""] * AROUND

    def __len__(self) -> int:
        return len(self._spans)

    def __iter__(self) -> Iterator[str]:
        return iter(self._raws[: len(self._spans)])

    def kind(self, i: int) -> str | None:
        """The name of the token's kind (see the pattern); None outside the range."""
        return self._kinds[i]

    def raw(self, i: int) -> str:
        """The token as written; "" outside the range."""
        return self._raws[i]

    def word(self, i: int) -> str:
        """The token in lower case; "" outside the range."""
        return self._raws[i].lower()

    def start(self, i: int) -> int:
        return self._spans[i][0]

    def end(self, i: int) -> int:
        return self._spans[i][1]

    def gap(self, i: int) -> str:
        """The text between token `i` and the token before it, or the start or end of the text."""
        start = self._spans[i - 1][1] if i > 0 else 0
        return self.text[start : self._spans[i][0] if i < len(self._spans) else len(self.text)]

    def from_character(self, i: int, end: int) -> int:
        """The first token from `i` on that begins at or after the character `end`."""
        while i < len(self._spans) and self._spans[i][0] < end:
            i += 1
        return i

    def glued(self, i: int) -> bool:
        """Whether token `i` follows the one before it directly."""
        return 0 < i < len(self._spans) and self._spans[i - 1][1] == self._spans[i][0]

    def hyphen(self, i: int) -> bool:
        """Whether token `i` is a hyphen within a word."""
        return self.raw(i) == "-" and self.glued(i) and self.glued(i + 1)
