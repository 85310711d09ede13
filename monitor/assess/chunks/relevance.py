"""How well each chunk answers the question, without a language model: from embeddings and BM25.

- *semantic* = ½ cos(e(chunk), e(q)) + ½ MaxSim: the mean over the question's tokens, weighted by their information,
  of the highest cosine with a token of the chunk (late interaction, Khattab and Zaharia, 2020, arXiv:2004.12832). The
  first sees what a chunk is about, the second whether it speaks of everything that is asked.
- *bm25* (Robertson and Zaragoza, 2009), with the chunks of the interaction as the collection, as a share of the highest
  that there is: that of a chunk which repeats every word of the question without end.
- *relevance* = 0.9 · semantic + 0.1 · bm25. On labelled questions words add little to meaning, and more weight of
  theirs does harm (docs/quality/diagnosis.md has the figures).

Each is in [0, 1]; a negative cosine counts as 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, groupby
from math import fsum, log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.assess.chunks.segment import Cut
from monitor.assess.embed.sentences import Vectors
from monitor.assess.embed.single_precision import single, single_of_document
from monitor.assess.embed.tokens import Tokens
from monitor.core.text.stop_words import STOP_WORDS
from monitor.core.text.words import STEM, stems

Floats = NDArray[np.float64]

BM25_WEIGHT: Final = 0.1
K1, B = 1.5, 0.75  # the usual saturation and length of BM25
MOST_ASKED: Final = 512  # tokens of a question that are looked for, those that say most; people write fewer
COMMON: Final = frozenset(word[:STEM] for word in STOP_WORDS)


class Asked(NamedTuple):
    """The question: its text, its tokens, and the unit vector of all its sentences."""

    text: str
    tokens: Tokens
    vector: NDArray[np.float32]


class Relevances(NamedTuple):
    """One value for each chunk, shape (chunks,)."""

    relevance: Floats
    bm25: Floats
    semantic: Floats


def read_question(text: str, tokens: Tokens, sentences: Vectors) -> Asked:
    total = sentences.astype(np.float32).sum(axis=0)
    norm = float(np.linalg.norm(total))
    return Asked(text, tokens, total / norm if norm else total)


def relevances(question: Asked, chunks: Sequence[Cut], documents: Sequence[Tokens]) -> Relevances:
    """`documents` are the tokens of each document; the chunks are in the order of the documents."""
    about = np.clip(np.stack([chunk.vector for chunk in chunks]) @ question.vector, 0.0, 1.0)
    semantic = np.minimum(0.5 * about + 0.5 * max_sim(question.tokens, chunks, documents), 1.0)
    lexical = bm25(question.text, chunks)
    return Relevances((1 - BM25_WEIGHT) * semantic + BM25_WEIGHT * lexical, lexical, semantic)


def max_sim(question: Tokens, chunks: Sequence[Cut], documents: Sequence[Tokens]) -> Floats:
    """MaxSim of the question with each chunk; 0 for a chunk without tokens, or a question without any."""
    looked_for = question[np.sort(np.argsort(-question["weight"], kind="stable")[:MOST_ASKED])]
    weights = looked_for["weight"].astype(np.float64)
    if not weights.any():
        weights = np.ones(len(weights))
    if not len(weights):
        return np.zeros(len(chunks))
    vectors = single(looked_for).T
    best = np.zeros((len(chunks), len(weights)), np.float32)
    place = 0
    for number, own in groupby(chunks, key=lambda chunk: chunk.document):
        tokens = documents[number]
        rows = single_of_document(tokens)
        bounds = tokens["start"].searchsorted([(chunk.start, chunk.end) for chunk in own])
        for first, last in bounds.tolist():
            if last > first:
                np.maximum.reduce(rows[first:last] @ vectors, axis=0, out=best[place])
            place += 1
    whole = weights.sum()
    return np.array([row @ weights / whole for row in np.clip(best, 0.0, 1.0).astype(np.float64)])


def bm25(question: str, chunks: Sequence[Cut]) -> Floats:
    """The BM25 of each chunk, as a share of the highest possible; 0 if the question has no word that says something."""
    words = frozenset(stems(question)) - COMMON
    if not words or not chunks:
        return np.zeros(len(chunks))
    held = [{word: count for word, count in chunk.words.items() if word in words} for chunk in chunks]
    lengths = [chunk.words.total() for chunk in chunks]
    usual = max(fsum(lengths) / len(chunks), 1.0)
    in_chunks = Counter(chain.from_iterable(held))
    idf = {word: idf_of(count, len(chunks)) for word, count in in_chunks.items()}
    highest = (K1 + 1) * (fsum(idf.values()) + (len(words) - len(idf)) * idf_of(0, len(chunks)))
    return np.array(
        [
            fsum(
                idf[word] * count * (K1 + 1) / (count + K1 * (1 - B + B * length / usual))
                for word, count in counts.items()
            )
            / highest
            for counts, length in zip(held, lengths, strict=True)
        ]
    )


def idf_of(count: int, chunks: int) -> float:
    """The inverse document frequency of a word that `count` of so many chunks hold; above 0."""
    return log(1 + (chunks - count + 0.5) / (count + 0.5))
