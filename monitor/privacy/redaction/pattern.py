"""Finds configured patterns, such as customer numbers, in time proportional to the length of the text.

The engine is pydantic's, which never backtracks but does not report positions. So a pattern has to match whole words:
from the start of a word, or the sign before it, to the end of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from pydantic_core import SchemaValidator

from monitor.core.text.pattern import compile_pattern
from monitor.privacy.redaction.forms import UNSPACED
from monitor.privacy.redaction.spans import Finder, Span

MOST_WORDS = 8  # in one match
LONGEST = 100  # characters in one match
_CHUNK = 16  # words that are tested together before each run of words is
_WORD = re.compile(rf"[^\W{UNSPACED}]+|[{UNSPACED}]")


def pattern(expression: str) -> Finder:
    """Finds the runs of words that `expression` matches as a whole; from each first word, the longest run.

    `expression` is in RE2 syntax: no look-around, no back references.

    Raises:
        ValueError: `expression` is not valid, is anchored, or matches the empty text.
    """
    anywhere, whole = compile_pattern(expression)
    return partial(_find, anywhere, whole)


def _find(anywhere: SchemaValidator, whole: SchemaValidator, text: str) -> Iterator[Span]:
    if not anywhere.isinstance_python(text):
        return
    words = [match.span() for match in _WORD.finditer(text)]
    for chunk in range(0, len(words), _CHUNK):
        last = min(chunk + _CHUNK + MOST_WORDS, len(words)) - 1
        if anywhere.isinstance_python(text[max(words[chunk][0] - 1, 0) : words[last][1]]):
            for first in range(chunk, min(chunk + _CHUNK, len(words))):
                span = _run(whole, text, words, first)
                if span is not None:
                    yield span


def _run(whole: SchemaValidator, text: str, words: list[Span], first: int) -> Span | None:
    """The longest matching run from word `first` on."""
    start = words[first][0]
    signed = start > 0 and not text[start - 1].isspace() and not text[start - 1].isalnum()
    for last in range(min(first + MOST_WORDS, len(words)) - 1, first - 1, -1):
        end = words[last][1]
        for begin in (start - 1, start) if signed else (start,):
            if end - begin <= LONGEST and whole.isinstance_python(text[begin:end]):
                return begin, end
    return None
