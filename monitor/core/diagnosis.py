"""The diagnosis of one interaction: whether the retriever or the generator is at fault, and the chunks that show it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Diagnosis(StrEnum):
    """What is wrong with an interaction, or that nothing is. `monitor/assess/chunks/diagnose.py` decides."""

    RETRIEVAL_MISSED = "retrieval_missed"  # nothing that was retrieved answers the question
    RETRIEVAL_NOISY = "retrieval_noisy"  # the answer is fine, but most of what was retrieved is off the question
    RETRIEVAL_REDUNDANT = "retrieval_redundant"  # the answer is fine, but much of what was retrieved repeats the rest
    GENERATOR_IGNORED = "generator_ignored"  # something that fits the question was retrieved, and not used
    GENERATOR_INVENTED = "generator_invented"  # the answer uses what was retrieved, and says more than that
    HEALTHY = "healthy"

    @property
    def of_retriever(self) -> bool:
        """Whether the retriever is at fault, or the knowledge base behind it."""
        return self.value.startswith("retrieval_")

    @property
    def of_generator(self) -> bool:
        """Whether the generator is at fault."""
        return self.value.startswith("generator_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The earlier-ranked chunk that a redundant one repeats: its number in the list of chunks, from 0.

    `cosine` is that of the embeddings, `tfidf` that of the TF-IDF vectors of the words. `verbatim` is the share of the
    redundant chunk's words in sentences that stand in earlier chunks word for word.
    """

    chunk: int
    cosine: float
    tfidf: float
    verbatim: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A chunk of a retrieved document: characters `[start, end)` of the document with the index `document`, from 0.

    `relevance` in [0, 1] says how well it answers the question; `bm25` and `semantic`, each in [0, 1], are what the
    hybrid rank is made of, and `rank` is the place in it, from 1. `used`: a sentence of the answer rests on it.
    """

    document: int
    start: int
    end: int
    relevance: float
    bm25: float
    semantic: float
    rank: int
    used: bool = False
    repeats: Repeated | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDiagnosis:
    """The diagnosis of an interaction with the chunks that it rests on, in the order in which they were retrieved.

    A chunk is relevant if its relevance reaches `threshold`. `relevance` is that of the best chunk: how well the
    documents answer the question. `tau` is Kendall's τ of the retriever's order of the documents and the hybrid one,
    in [-1, 1], None with fewer than two documents; `used_rank` the place that the retriever gave the first document
    that the answer uses, from 1; `lost_in_the_middle` says that the best chunk is relevant, stands in the middle third
    of the text and is not used. `examined` is the share of the documents' text that was read; below 1 only if there is
    too much of it. `by` is what the relevance comes from.
    """

    diagnosis: Diagnosis
    chunks: tuple[Chunk, ...] = ()
    threshold: float
    relevance: float | None = None
    tau: float | None = None
    used_rank: int | None = None
    lost_in_the_middle: bool = False
    examined: float = 1.0
    by: str = "embedding and BM25"

    def relevant(self, chunk: Chunk) -> bool:
        return chunk.relevance >= self.threshold

    def kept(self, chunk: Chunk) -> bool:
        """Whether ChunkRAG's filter would have kept the chunk: it is relevant, and repeats no earlier one."""
        return self.relevant(chunk) and chunk.repeats is None
