"""Examines what was retrieved for one question: its chunks, with relevance, rank, repetition and use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from monitor.assess.chunks.diagnose import OFF_QUESTION, diagnose
from monitor.assess.chunks.rank import hybrid_order, kendall_tau, reranked
from monitor.assess.chunks.redundant import repetitions
from monitor.assess.chunks.relevance import Asked, relevances
from monitor.assess.chunks.segment import Cut, cut_documents, most_promising
from monitor.assess.embed.sentences import Vectors
from monitor.assess.embed.tokens import Tokens
from monitor.assess.ports import Reranker
from monitor.assess.threshold import Spread, dynamic_threshold
from monitor.core.diagnosis import Chunk, ChunkDiagnosis
from monitor.core.evidence import AlignedSentence
from monitor.core.model import Verdict

USED: Final = 0.6  # the score from which on a sentence of the answer rests on its passage (LIKE in score/features.py)
# Of apps of which nothing is known yet: as low as in the families with the lowest relevances, so that an app whose
# documents speak otherwise than its questions is not blamed from its first day.
USUAL: Final = Spread(mean=0.36, sd=0.14)
# The threshold is the mean, within these limits. A higher one finds more of what was missed, and blames the retriever
# wrongly for more: at the mean for at most one in eight questions, half a deviation above it for one in four.
LIMITS: Final = (OFF_QUESTION, 0.6)
LONG: Final = 2_000  # characters: of shorter texts, models overlook nothing in the middle
BY: Final = "embedding and BM25"
DIGITS: Final = 4  # of relevance and threshold: what is decided here, the stored figures must show again


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved:
    """The documents of one interaction: texts, tokens and vectors of sentences, one of each per document."""

    texts: Sequence[str]
    tokens: Sequence[Tokens]
    sentences: Sequence[Vectors]


def examine(
    question: Asked,
    retrieved: Retrieved,
    verdict: Verdict,
    alignment: Sequence[AlignedSentence],
    *,
    usual: Spread = USUAL,
    reranker: Reranker | None = None,
) -> ChunkDiagnosis:
    """The diagnosis of an answer with this verdict.

    `alignment` names the passages that the answer's sentences rest on: those of a refusal rest on none. `usual`
    is the spread of the relevances of the app's chunks.
    """
    carried = () if verdict is Verdict.REFUSAL else [pair for pair in alignment if pair.score >= USED]
    cut, examined = most_promising(cut_documents(retrieved.texts, retrieved.sentences), question.text)
    if not cut:
        threshold = dynamic_threshold((), usual, LIMITS, above=0)
        return ChunkDiagnosis(diagnosis=diagnose(verdict, (), threshold), threshold=threshold, by=BY)
    found = relevances(question, cut, retrieved.tokens)
    order, by = hybrid_order(found.bm25, found.semantic), BY
    if reranker is not None:
        texts = [retrieved.texts[c.document][c.start : c.end] for c in cut]
        if (better := reranked(order, question.text, texts, reranker)) is not None:
            order, by = better, f"{BY}, reranked by {reranker.model}"
    ranks = {at: rank for rank, at in enumerate(order, 1)}
    threshold = round(dynamic_threshold(found.relevance.tolist(), usual, LIMITS, above=0), DIGITS)
    chunks = tuple(
        Chunk(
            document=c.document,
            start=c.start,
            end=c.end,
            relevance=relevance,
            bm25=bm25,
            semantic=semantic,
            rank=ranks[at],
            used=_is_used(c, carried),
            repeats=repeats,
        )
        for at, (c, relevance, bm25, semantic, repeats) in enumerate(
            zip(cut, *(values.round(DIGITS).tolist() for values in found), repetitions(cut), strict=True)
        )
    )
    best = max(range(len(chunks)), key=lambda at: chunks[at].relevance)
    return ChunkDiagnosis(
        diagnosis=diagnose(verdict, chunks, threshold),
        chunks=chunks,
        threshold=threshold,
        relevance=chunks[best].relevance,
        tau=kendall_tau(order, cut),
        used_rank=min((pair.document + 1 for pair in carried), default=None),
        lost_in_the_middle=_is_lost(chunks, best, threshold),
        examined=examined,
        by=by,
    )


def _is_used(chunk: Cut, carried: Sequence[AlignedSentence]) -> bool:
    return any(
        pair.document == chunk.document and pair.start < chunk.end and chunk.start < pair.end for pair in carried
    )


def _is_lost(chunks: Sequence[Chunk], best: int, threshold: float) -> bool:
    return chunks[best].relevance >= threshold and not chunks[best].used and _in_the_middle(chunks, best)


def _in_the_middle(chunks: Sequence[Chunk], place: int) -> bool:
    """Whether the middle of the chunk is in the middle third of a long text, with other chunks before and after it."""
    sizes = [chunk.end - chunk.start for chunk in chunks]
    if not 0 < place < len(chunks) - 1 or sum(sizes) < LONG:
        return False
    middle = sum(sizes[:place]) + sizes[place] / 2
    return sum(sizes) / 3 < middle < sum(sizes) * 2 / 3
