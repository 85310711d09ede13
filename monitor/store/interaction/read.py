"""Stored interactions as the nouns that they were."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from monitor.core.message import Position
from monitor.core.model import Document, Interaction, Mark, SupportingDocument, TokenUsage


def interaction_of(row: Mapping[str, Any]) -> Interaction:
    """The interaction that `rows.interaction_row` made this row of, by the names of its columns."""
    support, usage = row["supporting_documents"], (row["input_tokens"], row["output_tokens"])
    position = None
    if row["source_topic"] is not None:
        position = Position(
            topic=row["source_topic"], partition=row["source_partition"], offset=row["source_offset"]
        )  # fmt: skip
    return Interaction(
        id=row["id"],
        app=row["app"],
        occurred_at=row["occurred_at"].astimezone(UTC),
        question=row["question"],
        answer=row["answer"],
        retrieved_documents=tuple(Document(**document) for document in row["retrieved_documents"]),
        supporting_documents=None if support is None else tuple(SupportingDocument(**piece) for piece in support),
        environment=row["environment"],
        conversation_id=row["conversation_id"],
        turn=row["turn"],
        reference_answer=row["reference_answer"],
        model=row["model"],
        prompt_version=row["prompt_version"],
        tags=row["tags"],
        trace_id=row["trace_id"],
        latency_ms=row["latency_ms"],
        usage=None if usage == (None, None) else TokenUsage(input=usage[0], output=usage[1]),
        marks=frozenset(map(Mark, row["marks"])),
        position=position,
    )
