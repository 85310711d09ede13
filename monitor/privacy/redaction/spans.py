"""Where a text holds what has to go, and what the text becomes: so that places in it can be moved along."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]  # [start, end) in characters
Finder: TypeAlias = Callable[[str], Iterable[Span]]
_TAKEN = "\0"  # no form has it in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`[start, end)` of a text, and the word that takes its place."""

    start: int
    end: int
    word: str


def found(text: str, finders: Sequence[tuple[str, Finder]]) -> list[Found]:
    """What the finders find, in order and without overlaps; a finder does not see what one before it has found.

    What overlaps all the same is one, under the word of what begins first.
    """
    spans: list[Found] = []
    for word, find in finders:
        new = [Found(start=start, end=end, word=word) for start, end in find(text)]
        if new:
            spans += new
            text = _without(text, new)
    return _merged(spans)


def replaced(text: str, spans: Sequence[Found]) -> str:
    """`text` with the word of each span in its place."""
    pieces, done = [], 0
    for span in spans:
        pieces += [text[done : span.start], span.word]
        done = span.end
    return "".join([*pieces, text[done:]])


def moved(start: int, end: int, spans: Sequence[Found]) -> Span:
    """Where [start, end) stands once `spans` are replaced; where it cuts into one, it takes in the whole word."""
    return _place(start, spans, after=False), _place(end, spans, after=True)


def _place(place: int, spans: Sequence[Found], *, after: bool) -> int:
    number = bisect_right(spans, place, key=lambda span: span.start)
    shift = sum(len(span.word) - (span.end - span.start) for span in spans[:number])
    if number and spans[number - 1].start < place < spans[number - 1].end:
        span = spans[number - 1]
        return span.end + shift if after else span.end + shift - len(span.word)
    if number and spans[number - 1].start == place:  # the last one begins here: it has moved nothing yet
        span = spans[number - 1]
        shift -= len(span.word) - (span.end - span.start)
    return place + shift


def _without(text: str, spans: Iterable[Found]) -> str:
    """Of the same length."""
    pieces, done = [], 0
    for span in sorted(spans, key=lambda span: span.start):
        start = max(span.start, done)
        pieces += [text[done:start], _TAKEN * max(span.end - start, 0)]
        done = max(done, span.end)
    return "".join([*pieces, text[done:]])


def _merged(spans: Iterable[Found]) -> list[Found]:
    merged: list[Found] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if merged and span.start < merged[-1].end:
            last = merged.pop()
            span = Found(start=last.start, end=max(last.end, span.end), word=last.word)  # noqa: PLW2901
        merged.append(span)
    return merged
