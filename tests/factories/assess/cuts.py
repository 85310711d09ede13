"""Chunks as they are cut, tokens and vectors of sentences, each of the test's choice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from monitor.assess.chunks.segment import Cut, cut_documents
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.tokens import Tokens, token_type
from monitor.core.text.words import stems


def a_cut(text: str = "", vector: Sequence[float] = (1, 0), **given) -> Cut:
    """A chunk with the words of `text`, and no numbers."""
    known = {"document": 0, "start": 0, "end": max(len(text), 1), "words": Counter(stems(text))}
    return Cut(**{**known, "numbers": frozenset(), "vector": np.array(vector, np.float32), **given})


def tokens_of(rows: Sequence[Mapping[str, object]], dimensions: int = 2) -> Tokens:
    """Tokens with the fields that each row names."""
    tokens = np.zeros(len(rows), token_type(dimensions))
    for token, row in zip(tokens, rows, strict=True):
        for name, value in row.items():
            token[name] = value
    return tokens


def vectors_of(rows: Sequence[Sequence[float]], dimensions: int = 2) -> np.ndarray:
    return np.array(rows, np.float16).reshape(len(rows), dimensions)


def hashed_cuts(*texts: str) -> list[Cut]:
    """The chunks of these documents, with hashed vectors."""
    return cut_documents(texts, HashEmbedder().sentences(texts))
