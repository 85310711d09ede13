"""Blanks the marks in a text that are not part of its sentences: citations, list numbers, addresses, code, Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class _Mark(NamedTuple):
    """A pattern, and the signs of which a text must contain at least one for the pattern to match."""

    signs: tuple[str, ...]
    pattern: re.Pattern[str]


def _mark(signs: str, pattern: str) -> _Mark:
    return _Mark(tuple(signs.split(" ")), re.compile(pattern, re.VERBOSE))


# A German date is not a list number ("3. Mai").
_NO_MONTH = r"(?!\s(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez))"
_NUMBERED = rf"[\s>*•\#-]{{0,12}}+(?:\(?\d{{1,3}}[.)](?=[\s*\[\t]){_NO_MONTH} | \d{{1,2}}(?=[\t\[]))"

# Each pattern is bounded or begins with something that is found quickly, so that a hostile text costs one pass.
_CODE = (
    _mark("``` ~~~", r"```[\s\S]*?(?:```|\Z) | ~~~[\s\S]*?(?:~~~|\Z)"),
    _mark("`", r"`[^`\n]{1,300}+`"),
)
_MARKS = (
    _mark("://", r"https?://\S++"),
    _mark("www.", r"www\.\S++"),
    _mark("@", r"(?<![\w.+-])[\w.+-]{1,64}+@[\w.-]{1,200}+"),
    _mark("/", r"(?<![\w.-])(?:[\w-]{1,63}\.){1,5}[a-z]{2,10}/\S++"),
    _mark("[", r"\[\s?(?:\d{1,3}|\^\w{1,9}|[a-z])(?:\s?[,;–-]\s?\d{1,3}){0,20}\s?\]"),
    _mark("【", r"【[^】\n]{1,40}】"),
    _mark("(", r"\(\d{1,2}(?:,\s?\d{1,2}){0,9}\)"),
    _mark("⁰ ¹ ² ³ ⁴ ⁵ ⁶ ⁷ ⁸ ⁹", r"(?<![mt⁻⁰¹²³⁴-⁹])(?<![×x·*]10)(?<![×x·*][ ]10)[⁰¹²³⁴-⁹]++"),  # but m², × 10⁶
    _mark("\n", rf"\n{_NUMBERED}"),
    _mark(") .", rf"\d(?:(?<=[.!?:;,]\s\d)\d?\)(?=\s) | (?<=[.!?:;]\s\d)\d?\.(?=\s+[A-Z]){_NO_MONTH})"),
    _mark(
        "ocument assage ource ontext hunk ootnote eference",
        r"""[dpscfrDPSCFR](?:ocument|assage|ource|ontext|hunk|ootnote|eference)s?\s(?:ID\s|[Nn]o\.\s|\#)?
        \d{1,2}\b(?!\s?%)""",
    ),
)
_FIRST_LINE = re.compile(_NUMBERED, re.VERBOSE)
_EMPHASIS = re.compile(
    r"[*`~]{1,3}|(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)|^\s{0,3}(?:\#{1,6}|>|[-+•–])\s", re.MULTILINE
)
_HEADING = re.compile(r"^[ ]{0,3}\#{1,6}[ ]+(?:[^\W\d]+[ :]*){1,4}\#*$", re.MULTILINE)  # a few words, no figure
_MARKED = frozenset("\n*`~_#>-+•–[【:/@¹²³⁴⁵⁶⁷⁸⁹)")


def blank_markup(text: str, *, code: bool) -> str:
    """`text` with every mark overwritten by tabs, so that offsets stay; code too, unless `code` is true.

    A tab instead of a space keeps the words on both sides of a mark from reading as one name.
    """
    if first := _FIRST_LINE.match(text):
        text = _tabs(first) + text[first.end() :]
    for signs, pattern in _MARKS if code else (*_CODE, *_MARKS):
        for sign in signs:
            if sign in text:
                text = pattern.sub(_tabs, text)
                break
    return text


def prose(text: str) -> str:
    """`text` as someone would read it aloud, with offsets kept; all of it if nothing would remain.

    Fenced code, addresses, citation marks, Markdown's signs and headings of a few words are blanked.
    """
    if _MARKED.isdisjoint(text):
        return text
    spoken = _HEADING.sub(_tabs, text)
    for sign in _CODE[0].signs:
        if sign in spoken:
            spoken = _CODE[0].pattern.sub(_tabs, spoken)
    spoken = _EMPHASIS.sub(_tabs, blank_markup(spoken, code=True))
    return spoken if any(map(str.isalnum, spoken)) else text


def blank_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """`text` with the characters `[start, end)` of each span overwritten by tabs; they are in order."""
    pieces, done = [], 0
    for start, end in spans:
        pieces += [text[done:start], "\t" * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])


def _tabs(mark: re.Match[str]) -> str:
    """Tabs of the same length as the mark. A mark that begins with a line break keeps it."""
    return "\n" + "\t" * (len(mark[0]) - 1) if mark[0][0] == "\n" else "\t" * len(mark[0])
