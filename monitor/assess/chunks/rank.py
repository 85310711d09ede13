"""Ranks chunks by words and meaning together, and compares the retriever's order of the documents with that.

Hybrid rank (ChunkRAG, 2024): 0.5 · BM25 + 0.5 · semantic, each as a share of the interaction's best. A reranker, if
there is one, orders the best of them anew.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.assess.chunks.segment import Cut
from monitor.assess.ports import MOST_RERANKED, Reranker

Floats = NDArray[np.float64]
_FEWEST: Final = 2  # documents that have an order


def hybrid_order(bm25: Floats, semantic: Floats) -> list[int]:
    """The numbers of the chunks, the best first; of equal ones the earlier."""
    scores = 0.5 * _of_best(bm25) + 0.5 * _of_best(semantic)
    return [int(at) for at in np.argsort(-scores, kind="stable")]


def reranked(order: Sequence[int], question: str, texts: Sequence[str], reranker: Reranker) -> list[int] | None:
    """The order with its best chunks in the order of the reranker; None where the reranker gives no scores.

    `texts` are those of the chunks.
    """
    first = list(order[:MOST_RERANKED])
    scores = reranker.rank(question, [texts[at] for at in first])
    if scores is None:
        return None
    better = sorted(range(len(first)), key=lambda place: (-scores[place], place))
    return [*(first[place] for place in better), *order[len(first) :]]


def kendall_tau(order: Sequence[int], chunks: Sequence[Cut]) -> float | None:
    """Kendall's τ of the documents' order by their best chunk and that of the retriever; None with fewer than two.

    τ = (concordant - discordant) / (n (n - 1) / 2) over the documents that have a chunk (Kendall, 1938).
    """
    documents = list(dict.fromkeys(chunks[at].document for at in order))
    n = len(documents)
    if n < _FEWEST:
        return None
    discordant, before = 0, list[int]()
    for document in documents:
        place = bisect(before, document)
        discordant += len(before) - place
        before.insert(place, document)
    pairs = n * (n - 1) // 2
    return (pairs - 2 * discordant) / pairs


def _of_best(scores: Floats) -> Floats:
    highest = float(scores.max(initial=0.0))
    return scores / highest if highest > 0 else scores
