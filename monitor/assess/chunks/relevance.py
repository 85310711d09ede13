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

from collections.abc import Sequence
from math import log
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.assess.chunks.segment import Cut
from monitor.assess.embed.sentences import Vectors
from monitor.assess.embed.tokens import Tokens
from monitor.core.text.stop_words import STOP_WORDS
from monitor.core.text.words import STEM, stems

Floats = NDArray[np.float64]

BM25_WEIGHT: Final = 0.1
K1, B = 1.5, 0.75  # the usual saturation and length of BM25
_COMMON: Final = frozenset(word[:STEM] for word in STOP_WORDS)


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


def asked(text: str, tokens: Tokens, sentences: Vectors) -> Asked:
    total = sentences.astype(np.float32).sum(axis=0)
    norm = float(np.linalg.norm(total))
    return Asked(text, tokens, total / norm if norm else total)


def relevances(question: Asked, chunks: Sequence[Cut], documents: Sequence[Tokens]) -> Relevances:
    """`documents` are the tokens of each document; the chunks are in the order of the documents."""
    about = np.clip(np.stack([chunk.vector for chunk in chunks]) @ question.vector, 0.0, 1.0)
    semantic = 0.5 * about + 0.5 * max_sim(question.tokens, chunks, documents)
    lexical = bm25(question.text, chunks)
    return Relevances((1 - BM25_WEIGHT) * semantic + BM25_WEIGHT * lexical, lexical, semantic)


def max_sim(question: Tokens, chunks: Sequence[Cut], documents: Sequence[Tokens]) -> Floats:
    """MaxSim of the question with each chunk; 0 for a chunk without tokens, or a question without any."""
    found = np.zeros(len(chunks))
    weights = question["weight"].astype(np.float64)
    if not weights.any():
        weights = np.ones(len(weights))
    if not len(weights):
        return found
    vectors = question["vector"].astype(np.float32).T
    for number in dict.fromkeys(chunk.document for chunk in chunks):
        tokens = documents[number]
        own = [place for place, chunk in enumerate(chunks) if chunk.document == number]
        for place in own:
            first, last = np.searchsorted(tokens["start"], [chunks[place].start, chunks[place].end])
            if last > first:
                best = (tokens["vector"][first:last].astype(np.float32) @ vectors).max(axis=0)
                found[place] = float(np.clip(best, 0.0, 1.0) @ weights / weights.sum())
    return found


def bm25(question: str, chunks: Sequence[Cut]) -> Floats:
    """The BM25 of each chunk, as a share of the highest possible; 0 if the question has no word that says something."""
    words = [word for word in dict.fromkeys(stems(question)) if word not in _COMMON]
    if not words or not chunks:
        return np.zeros(len(chunks))
    counts = np.array([[chunk.words[word] for word in words] for chunk in chunks], np.float64)
    lengths = np.array([chunk.words.total() for chunk in chunks], np.float64)
    n = len(chunks)
    idf = np.array([log(1 + (n - df + 0.5) / (df + 0.5)) for df in np.count_nonzero(counts, axis=0).tolist()])
    norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1.0))
    scores: Floats = (counts * (K1 + 1) / (counts + norm[:, None])) @ idf / (idf.sum() * (K1 + 1))
    return scores
