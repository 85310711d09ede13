"""RAGAS evaluation samples of several turns: `user_input` is the list of messages (docs/start/forms.md).

Field names after ragas `dataset_schema.py`, `MultiTurnSample`, and `messages.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field

from monitor.core.errors import InvalidMessage
from monitor.core.model import Json, Unscored
from monitor.core.trace import Collected
from monitor.ingest.dialects.dialect import Context, Event, bounded, hashed_id, validated
from monitor.ingest.dialects.documents import documents
from monitor.ingest.parse import JsonObject, path_of, shown

_ROLES = {"human": "human", "user": "human", "ai": "ai", "assistant": "ai", "tool": "tool", "system": "system"}
_IDENTITY = ("user_input", "reference")  # of a sample; columns added later make no new interactions


class _RagasMessage(Event):
    content: str
    type: str | None = None
    role: str | None = None  # of OpenAI's form, which some tools write


class _MultiTurnSample(Event):
    user_input: Annotated[list[_RagasMessage], Field(fail_fast=True)]
    reference: str | None = None
    metadata: Any = None


@dataclass(slots=True)
class _Turn:
    questions: list[str] = field(default_factory=list)
    documents: list[Json] = field(default_factory=list)
    retrieved: bool = False
    answer: str | None = None


def read(event: JsonObject, context: Context) -> Collected:
    """A native event for each turn of a sample: what people say up to the answer, and what the tools gave for it.

    The id is the sample's, `#` and the number of the turn. The reference belongs to the last turn. A question without
    an answer, at the end, is no turn.

    Raises:
        InvalidMessage: a field is missing, of the wrong type or too long, or no message is an answer.
    """
    sample = validated(_MultiTurnSample, event)
    for i, message in enumerate(sample.user_input):
        bounded(message.content, context.max_text_chars, "user_input", i, "content")
    turns = [turn for turn in _turns(sample) if turn.questions and turn.answer]
    if not turns:
        raise InvalidMessage("user_input", "holds no question with an answer: no message of type ai after one of human")
    key = context.id or hashed_id(event, _IDENTITY)
    events = [_native(turn, number, key, context) for number, turn in enumerate(turns, 1)]
    events[-1]["reference_answer"] = sample.reference
    return Collected(
        received_at=context.received_at,
        position=context.position,
        events=tuple(map(_encoded, events)),
    )


def _turns(sample: _MultiTurnSample) -> Iterator[_Turn]:
    turn = _Turn()
    for i, message in enumerate(sample.user_input):
        name = message.type or message.role or ""
        role = _ROLES.get(name)
        if role is None:
            raise InvalidMessage(path_of(("user_input", i, "type")), f"must be human, ai or tool, got {shown(name)}")
        if role == "human":
            if turn.answer is not None:
                yield turn
                turn = _Turn()
            turn.questions.append(message.content)
        elif role == "tool":
            turn.retrieved = True
            turn.documents += documents(message.content)
        elif role == "ai" and message.content:  # one that only calls tools says nothing
            turn.answer = message.content
    yield turn


def _native(turn: _Turn, number: int, key: str, context: Context) -> JsonObject:
    return {
        "id": f"{key}#{number}",
        "app": context.app,
        "environment": context.environment,
        "occurred_at": context.occurred_at.isoformat() if context.occurred_at else None,
        "conversation_id": key,
        "turn": number,
        "question": "\n".join(turn.questions),
        "retrieved_documents": turn.documents,
        "answer": turn.answer,
        "tags": dict(context.tags) or None,
        "trace_id": context.trace_id,
        "unscored": None if turn.retrieved else Unscored.NO_RETRIEVAL.value,
    }


def _given(event: JsonObject) -> JsonObject:
    return {name: value for name, value in event.items() if value is not None}


def _encoded(event: JsonObject) -> bytes:
    """The event as JSON; a lone surrogate from a tool's Python or JSON becomes an escape, which its reader replaces."""
    return json.dumps(_given(event), ensure_ascii=False).encode("utf-8", "backslashreplace")
