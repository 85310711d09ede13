"""Findings in a text: replaces them with placeholders, and moves offsets into the text along."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]  # [start, end) in characters
Finder: TypeAlias = Callable[[str], Iterable[Span]]
_TAKEN = "\0"  # no form contains it


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """`[start, end)` of a text, and the placeholder that replaces it."""

    start: int
    end: int
    placeholder: str


def find_all(text: str, finders: Sequence[tuple[str, Finder]]) -> list[Finding]:
    """All findings, in order and without overlaps; a finder does not see what an earlier finder has found.

    Findings that overlap all the same become one, with the placeholder of the one that begins first.
    """
    spans: list[Finding] = []
    for placeholder, find in finders:
        new = [Finding(start=start, end=end, placeholder=placeholder) for start, end in find(text)]
        if new:
            spans += new
            text = _without(text, new)
    return merged(spans)


def merged(spans: Iterable[Finding]) -> list[Finding]:
    """The findings in order; those that overlap become one, with the placeholder of the one that begins first."""
    apart: list[Finding] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if apart and span.start < apart[-1].end:
            apart[-1] = replace(apart[-1], end=max(apart[-1].end, span.end))
        else:
            apart.append(span)
    return apart


def replaced(text: str, spans: Sequence[Finding]) -> str:
    """`text` with the placeholder of each finding in its place."""
    pieces, done = [], 0
    for span in spans:
        pieces += [text[done : span.start], span.placeholder]
        done = span.end
    return "".join([*pieces, text[done:]])


def growth(spans: Iterable[Finding]) -> list[int]:
    """By how many characters a text has grown before each of its findings, and after the last one."""
    return [0, *accumulate(len(span.placeholder) - (span.end - span.start) for span in spans)]


def moved(start: int, end: int, spans: Sequence[Finding], grown: Sequence[int]) -> Span:
    """`[start, end)` after `spans` are replaced; a range that cuts into a finding takes in the whole placeholder.

    `grown` is the `growth` of the spans.
    """
    return _place(start, spans, grown, after=False), _place(end, spans, grown, after=True)


def _place(place: int, spans: Sequence[Finding], grown: Sequence[int], *, after: bool) -> int:
    number = bisect_right(spans, place, key=lambda span: span.start)
    shift = grown[number]
    if number and spans[number - 1].start < place < spans[number - 1].end:
        span = spans[number - 1]
        return span.end + shift if after else span.end + shift - len(span.placeholder)
    if number and spans[number - 1].start == place:  # this finding begins here, so it has not moved the place
        span = spans[number - 1]
        shift -= len(span.placeholder) - (span.end - span.start)
    return place + shift


def _without(text: str, spans: Iterable[Finding]) -> str:
    """`text` with the spans blanked out, at the same length."""
    pieces, done = [], 0
    for span in sorted(spans, key=lambda span: span.start):
        start = max(span.start, done)
        pieces += [text[done:start], _TAKEN * max(span.end - start, 0)]
        done = max(done, span.end)
    return "".join([*pieces, text[done:]])
