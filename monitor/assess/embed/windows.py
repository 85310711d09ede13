"""Cuts long texts into windows and joins the vectors of the windows into one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from monitor.core.text.sentences import Span, sentence_spans

Vectors = NDArray[np.float32]

_SURROGATE = re.compile("[\ud800-\udfff]")
_LONGEST_CHARACTER = 4  # bytes in UTF-8


def well_formed(text: str) -> str:
    """The text with lone surrogates, which UTF-8 cannot encode, replaced by U+FFFD; offsets do not change."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def text_windows(text: str, max_bytes: int) -> Iterator[Span]:
    """Character ranges `[start, end)` that cover a well-formed text in order, each at most `max_bytes` of UTF-8 long.

    A window ends before a sentence, else after white space, else between any two characters. An empty text has one
    empty window.

    Raises:
        ValueError: `max_bytes` is too small for a single character of 4 bytes.
    """
    if max_bytes < _LONGEST_CHARACTER:
        raise ValueError(f"max_bytes must be at least {_LONGEST_CHARACTER}, not {max_bytes}")
    start = 0
    while True:
        piece = text[start : start + max_bytes]
        if not piece.isascii():
            piece = piece.encode()[:max_bytes].decode(errors="ignore")
        whole = start + len(piece) == len(text)
        end = start + (len(piece) if whole else _last_cut(piece))
        yield start, end
        if whole:
            return
        start = end


def token_windows(text: str, offsets: Sequence[Span] | NDArray[np.int32], max_tokens: int) -> list[Span]:
    """Token ranges `[start, end)` that cover all tokens in order, each at most `max_tokens` long.

    A window ends before a sentence, else after white space, else between any two tokens. A text without tokens has one
    empty window.

    Args:
        text: the tokenised text.
        offsets: the character ranges of the tokens in the text, in ascending order.
        max_tokens: at least 1.
    """
    count = len(offsets)
    if count <= max_tokens:
        return [(0, count)]
    starts, ends = np.asarray(offsets, np.int64).T
    sentences = np.searchsorted(starts, [start for start, _ in sentence_spans(text)]).tolist()
    words = (np.flatnonzero(starts[1:] > ends[:-1]) + 1).tolist()
    windows: list[Span] = []
    start = 0
    while count - start > max_tokens:
        reach = start + max_tokens
        end = _last(sentences, start, reach) or _last(words, start, reach) or reach
        windows.append((start, end))
        start = end
    return [*windows, (start, count)]


def join_windows(vectors: Vectors, owners: Sequence[int], weights: Sequence[float], count: int) -> Vectors:
    """Unit vectors of `count` texts, shape (count, d): the weighted mean of the windows of each text, rescaled.

    `vectors` has shape (windows, d). `owners` (the text of each window) and `weights` have one entry per window. Every
    text has at least one window.
    """
    total = np.zeros((count, vectors.shape[1]), np.float32)
    np.add.at(total, np.asarray(owners, np.intp), vectors * np.asarray(weights, np.float32)[:, None])
    return unit(total)


def unit(vectors: Vectors) -> Vectors:
    """The rows rescaled to length 1."""
    lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / lengths


def _last_cut(piece: str) -> int:
    """The length, at least 1, of a window that may take all of `piece`; the text goes on after the piece."""
    spans = sentence_spans(piece)
    if len(spans) > 1:
        return spans[-1][0]
    if piece[-1].isspace():
        return len(piece)
    *before, word = piece.rsplit(maxsplit=1)
    return len(piece) - len(word) if before else len(piece)


def _last(cuts: Sequence[int], start: int, reach: int) -> int | None:
    """The last of the ascending `cuts` in (start, reach], or None."""
    place = bisect_right(cuts, reach) - 1
    return cuts[place] if place >= 0 and cuts[place] > start else None
