"""Finds the chunks that say again what an earlier-ranked chunk says (ChunkRAG, 2024; metrics.md §3).

Two chunks are compared by the cosine of their embeddings and by that of their TF-IDF vectors. One of the two must
exceed ALIKE and the other NOT_UNLIKE, since embeddings alone take neighbouring sentences on one subject for the same.
A chunk with a number that the earlier one lacks says something new: rows of a price list do not repeat each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.assess.chunks.segment import Cut
from monitor.core.diagnosis import Repeated

ALIKE: Final = 0.9
NOT_UNLIKE: Final = 0.6


def repetitions(chunks: Sequence[Cut]) -> list[Repeated | None]:
    """For each chunk the earlier one that it repeats, the most alike; None for a chunk that repeats none."""
    if not chunks:
        return []
    vectors = np.stack([chunk.vector for chunk in chunks])
    cosines = np.clip(vectors @ vectors.T, -1.0, 1.0)
    words = tfidf(chunks)
    higher, lower = np.maximum(cosines, words), np.minimum(cosines, words)
    candidates = np.tril((higher > ALIKE) & (lower > NOT_UNLIKE), -1)
    found: list[Repeated | None] = [None] * len(chunks)
    for late in np.flatnonzero(candidates.any(axis=1)).tolist():
        earlier = [
            at
            for at in np.flatnonzero(candidates[late]).tolist()
            if found[at] is None and chunks[late].numbers <= chunks[at].numbers
        ]
        if earlier:
            best = max(earlier, key=lambda at: (higher[late, at], -at))
            found[late] = Repeated(chunk=best, cosine=float(cosines[late, best]), tfidf=float(words[late, best]))
    return found


def tfidf(chunks: Sequence[Cut]) -> NDArray[np.float64]:
    """The cosines of the chunks' TF-IDF vectors, shape (chunks, chunks); the weight of a word is ln(1 + N / n)."""
    seen = Counter(word for chunk in chunks for word in chunk.words)
    place = {word: at for at, word in enumerate(seen)}
    weights = np.array([log(1 + len(chunks) / n) for n in seen.values()])
    rows = np.zeros((len(chunks), len(seen)))
    for row, chunk in zip(rows, chunks, strict=True):
        if chunk.words:
            row[[place[word] for word in chunk.words]] = list(chunk.words.values())
    rows *= weights
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return np.clip(rows @ rows.T, 0.0, 1.0)
