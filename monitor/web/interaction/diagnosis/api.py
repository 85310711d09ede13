"""The diagnosis of an assessment as a model of the API. It holds no text of a document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from monitor.web.base.api_model import ApiResponse


class RepeatedChunk(ApiResponse):
    """The earlier chunk that a redundant one repeats."""

    chunk: int = Field(description="its place in `chunks`, from 0")
    cosine: float = Field(description="similarity of the embeddings")
    tfidf: float = Field(description="similarity of the words")
    verbatim: float = Field(default=0.0, description="share of its words in sentences of earlier chunks")


class Chunk(ApiResponse):
    """Characters `start` to `end` of a retrieved document; offsets refer to the text in clear."""

    document: int = Field(description="its place in `retrieved_documents`, from 0")
    start: int
    end: int
    relevance: float = Field(description="how well it answers the question, from 0 to 1")
    bm25: float
    semantic: float
    rank: int = Field(description="place by half BM25 and half semantic, from 1")
    used: bool = Field(default=False, description="a sentence of the answer rests on it")
    repeats: RepeatedChunk | None = None


class Retrieval(ApiResponse):
    """The retrieved documents in chunks, in the order in which they were retrieved."""

    by: str = Field(description="what the relevance comes from")
    threshold: float = Field(description="a chunk is relevant from this relevance on")
    relevance: float | None = Field(description="of the best chunk; null without chunks")
    tau: float | None = Field(description="Kendall's tau of the retriever's order and the one by rank")
    used_rank: int | None = Field(description="place of the first document that the answer uses, from 1")
    lost_in_the_middle: bool
    examined: float = Field(description="share of the documents' text that was read; below 1 if too long")
    chunks: list[Chunk]


def retrieval(evidence: Mapping[str, Any]) -> Retrieval | None:
    """The chunks in the evidence of a stored assessment; None in a form that only another release reads."""
    stored = evidence.get("retrieval")
    try:
        return None if stored is None else Retrieval(**stored)
    except ValidationError:
        return None
