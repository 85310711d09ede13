"""Finds the chunks that say again what an earlier-ranked chunk says (ChunkRAG, 2024; metrics.md §3).

A chunk is redundant if nearly all its sentences stand in earlier chunks word for word, as where documents overlap. Or
if it is like a single earlier one by two cosines, of the embeddings and of the TF-IDF vectors: one of them must exceed
ALIKE and the other NOT_UNLIKE, since embeddings alone take neighbouring sentences on one subject for the same (half of
the pairs above .9 share less than a quarter of their words). Either way, a chunk with a number that the earlier ones
lack says something new: rows of a price list do not repeat each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.assess.chunks.segment import Cut
from monitor.core.diagnosis import Repeated

ALIKE: Final = 0.9
NOT_UNLIKE: Final = 0.6
VERBATIM: Final = 0.8  # of a chunk's words, in sentences that stand in earlier chunks
_NO_NUMBERS: Final = frozenset[str]()

_Floats = NDArray[np.float64]


def repetitions(chunks: Sequence[Cut]) -> list[Repeated | None]:
    """For each chunk the earlier one that it repeats, the most alike; None for a chunk that repeats none.

    The one that is repeated is not redundant itself.
    """
    if not chunks:
        return []
    vectors = np.stack([chunk.vector for chunk in chunks])
    cosines = np.clip(vectors @ vectors.T, -1.0, 1.0)
    verbatim = list(_verbatim(chunks))
    if not (np.tril(cosines, -1) > NOT_UNLIKE).any() and all(share < VERBATIM for share, _ in verbatim):
        return [None] * len(chunks)  # whatever words they share
    words = tfidf(chunks)
    alike = np.tril((np.maximum(cosines, words) > ALIKE) & (np.minimum(cosines, words) > NOT_UNLIKE), -1)
    found: list[Repeated | None] = [None] * len(chunks)
    for late, (share, holders) in enumerate(verbatim):
        similar = np.flatnonzero(alike[late]).tolist()
        earlier = [at for at in similar if chunks[late].numbers <= chunks[at].numbers]
        if share >= VERBATIM and chunks[late].numbers <= _NO_NUMBERS.union(*(chunks[at].numbers for at in holders)):
            earlier += holders
        if kept := [at for at in earlier if found[at] is None]:
            best = max(kept, key=lambda at: (cosines[late, at] + words[late, at], -at))
            cosine, common = float(cosines[late, best]), float(words[late, best])
            found[late] = Repeated(chunk=best, cosine=cosine, tfidf=common, verbatim=share)
    return found


def _verbatim(chunks: Sequence[Cut]) -> Iterator[tuple[float, list[int]]]:
    """For each chunk the share of its words in sentences of earlier chunks, and the chunks that had these first."""
    first: dict[str, int] = {}
    for number, chunk in enumerate(chunks):
        held = [sentence for sentence in chunk.sentences if sentence.text in first and sentence.stems]
        share = sum(sentence.stems for sentence in held) / max(chunk.words.total(), 1)
        yield share, sorted({first[sentence.text] for sentence in held})
        for sentence in chunk.sentences:
            first.setdefault(sentence.text, number)


def tfidf(chunks: Sequence[Cut]) -> _Floats:
    """The cosines of the chunks' TF-IDF vectors, shape (chunks, chunks); the weight of a word is ln(1 + N / n).

    Chunks without words, of marks only, have a cosine of 1 with each other.
    """
    seen = Counter(chain.from_iterable(chunk.words for chunk in chunks))
    number = {word: at for at, word in enumerate(seen)}
    occurs = np.fromiter(seen.values(), np.int64, len(seen))
    idf = np.log1p(len(chunks) / occurs)
    sizes = [len(chunk.words) for chunk in chunks]
    own = np.fromiter(map(number.__getitem__, chain.from_iterable(chunk.words for chunk in chunks)), np.int64)
    counts = np.fromiter(chain.from_iterable(chunk.words.values() for chunk in chunks), np.float64, len(own))
    weights = counts * idf[own]
    bounds = pairwise(accumulate(sizes, initial=0))
    lengths = np.array([sqrt(weights[begin:end] @ weights[begin:end]) for begin, end in bounds])
    meets = occurs[own] > 1  # the others meet no word of another chunk
    chunk, column = np.repeat(np.arange(len(chunks)), sizes)[meets], (np.cumsum(occurs > 1) - 1)[own[meets]]
    rows = np.zeros((len(chunks), np.count_nonzero(occurs > 1)))
    rows[chunk, column] = weights[meets] / lengths[chunk]
    silent = lengths == 0
    found: _Floats = np.clip(rows @ rows.T + np.outer(silent, silent), 0.0, 1.0)
    np.fill_diagonal(found, 1.0)
    return found
