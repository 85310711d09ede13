"""RAGAS evaluation samples, as `EvaluationDataset.to_jsonl` writes them (docs/start/events.md).

Samples of several turns are read by `ragas_turns`. Field names after ragas `dataset_schema.py`, `SingleTurnSample`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from monitor.core.errors import InvalidMessage
from monitor.core.model import Document, Interaction
from monitor.core.trace import Collected
from monitor.ingest.dialects import ragas_turns
from monitor.ingest.dialects.dialect import (
    Context,
    Dialect,
    DocumentId,
    Event,
    bounded,
    check_count,
    content_id,
    hashed_id,
    identifier,
    timed,
    validated,
)
from monitor.ingest.parse import JsonObject

# What makes a sample itself; the id is a hash of these, so columns added later (scores, say) make no new interaction.
_IDENTITY = ("user_input", "retrieved_contexts", "retrieved_context_ids", "reference_contexts", "response", "reference")


class _RagasSample(Event):
    user_input: str
    retrieved_contexts: Annotated[list[str], Field(fail_fast=True)]
    response: str
    retrieved_context_ids: Annotated[list[DocumentId] | None, Field(fail_fast=True)] = None
    reference_contexts: Annotated[list[str] | None, Field(fail_fast=True)] = None
    reference: str | None = None


def read(event: JsonObject, context: Context) -> Interaction | Collected:
    """The interaction that a single-turn sample describes, or those of a multi-turn sample.

    Raises:
        InvalidMessage: a field is missing, of the wrong type or too long.
    """
    if isinstance(event.get("user_input"), list):
        return ragas_turns.read(event, context)
    check_count(event, "retrieved_contexts", context.max_documents)
    check_count(event, "retrieved_context_ids", context.max_documents)
    sample = validated(_RagasSample, event)
    limit = context.max_text_chars
    occurred_at, marks = timed(None, context)
    return Interaction(
        id=context.id if context.id is not None else hashed_id(event, _IDENTITY),
        app=context.app,
        environment=context.environment,
        occurred_at=occurred_at,
        question=bounded(sample.user_input, limit, "user_input"),
        answer=bounded(sample.response, limit, "response"),
        retrieved_documents=_documents(sample, limit),
        reference_answer=None if sample.reference is None else bounded(sample.reference, limit, "reference"),
        tags=dict(context.tags),
        trace_id=context.trace_id,
        marks=marks,
        position=context.position,
    )


DIALECT = Dialect(name="ragas", signs=frozenset({"user_input"}), read=read)


def _documents(sample: _RagasSample, limit: int) -> tuple[Document, ...]:
    texts, ids = sample.retrieved_contexts, sample.retrieved_context_ids
    for i, text in enumerate(texts):
        bounded(text, limit, "retrieved_contexts", i)
    if ids is None:
        return tuple([Document(id=content_id(text), text=text) for text in texts])
    if len(ids) != len(texts):
        raise InvalidMessage("retrieved_context_ids", f"has {len(ids):,} items for {len(texts):,} retrieved_contexts")
    names = [identifier(key, "retrieved_context_ids", i) for i, key in enumerate(ids)]
    return tuple([Document(id=name, text=text) for name, text in zip(names, texts, strict=True)])
