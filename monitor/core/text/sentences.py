"""Finds the sentences of a text, in scripts with and without spaces between words."""

from __future__ import annotations

import re

Span = tuple[int, int]

# The end of a sentence: a full stop before white space and no lower-case letter; CJK marks need no space; a blank line;
# a line break before a list item or anything that does not start in lower case. The possessive quantifiers keep a
# hostile run of full stops and spaces from costing quadratic time.
_END = re.compile(
    r"""[.!?…。！？｡؟\n](?:  # a search skips all other characters
        (?<=[.!?…])(?<![.!?…][.!?…])[.!?…]*+['")\]»”’]*+(?:(?=\s+[^\sa-zà-öø-ÿ]) | \s*$)
      | (?<=[。！？｡؟])[。！？｡؟]*["'」』）”’]*
      | (?<=\n)(?:\s*\n | (?=\s*(?:[-*•–]\s|\d{1,3}[.)]\s|[^\sa-zà-öø-ÿ])))
    )""",
    re.VERBOSE,
)
# A full stop after one of these ends no sentence. Initials and section numbers are recognised by their shape.
_ABBREVIATION = re.compile(
    r"""(?<![^\s(\["'])(?:[A-Zdiouz]|(?<![^\n])\d{1,3}|Dr|Mr|Mrs|Ms|Prof|St|Sr|Jr|No|Nr|Fig|Eq|Vol|Inc|Ltd|Co|Corp|vs|etc|ca|approx
      |e\.g|i\.e|a\.m|p\.m|U\.S|z\.\s?B|d\.\s?h|u\.\s?a|bzw|usw|Abs|Art|p\.\s?ex|M|Mme|Mlle|núm|pág|Sig|Dott|ecc)$""",
    re.VERBOSE,
)
_LONGEST_ABBREVIATION = 12


def sentence_spans(text: str) -> list[Span]:
    """Character offsets `[start, end)` of the sentences of `text`, in order, without the white space around them."""
    spans: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        stop = match.start()
        if text[stop] == "." and _ABBREVIATION.search(text, max(start, stop - _LONGEST_ABBREVIATION), stop):
            continue
        _append(spans, text, start, match.end())
        start = match.end()
    _append(spans, text, start, len(text))
    return spans


def sentence_pieces(text: str, longest: int) -> list[Span]:
    """The sentences of `text`, those over `longest` characters cut: at white space in the second half, else anywhere.

    In order, without the white space around them; together they hold every character that is not white space.
    """
    pieces: list[Span] = []
    for begin, end in sentence_spans(text):
        start = begin
        while end - start > longest:
            cut = _last_space(text, start + (longest + 1) // 2, start + longest)
            _append(pieces, text, start, cut)
            start = cut
        _append(pieces, text, start, end)
    return pieces


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


def _last_space(text: str, start: int, end: int) -> int:
    """The place of the last white space in `[start, end)`, else `end`."""
    return next((at for at in range(end - 1, start - 1, -1) if text[at].isspace()), end)


def _append(spans: list[Span], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        left = start + len(piece) - len(piece.lstrip())
        spans.append((left, left + len(stripped)))
