"""A turn as a native event (docs/start/events.md)."""

from __future__ import annotations

from datetime import datetime

from pydantic_core import to_json

from monitor.core.model import Json
from monitor.ingest.traces.turn import Turn, TurnDocument


def native_event(turn: Turn, *, app: str) -> bytes:
    """The event as JSON. Question, answer and texts of documents are null only if the turn is `unscored`."""
    usage = turn.usage
    event: dict[str, Json] = {
        "id": turn.trace_id,
        "app": app,
        "environment": turn.environment,
        "occurred_at": _rfc3339(turn.started),
        "conversation_id": turn.conversation_id,
        "question": turn.question,
        "retrieved_documents": [_document(d) for d in turn.documents or ()],
        "answer": turn.answer,
        "model": turn.model,
        "tags": {**turn.tags, **({"user": turn.user} if turn.user else {})} or None,
        "trace_id": turn.trace_id,
        "latency_ms": (turn.ended - turn.started).total_seconds() * 1000,
        "usage": None if usage is None else {"input": usage.input, "output": usage.output},
        "unscored": turn.unscored,
    }
    always = {"question", "retrieved_documents", "answer"}
    return to_json({name: value for name, value in event.items() if name in always or value is not None})


def _document(document: TurnDocument) -> Json:
    text = document.in_prompt if document.text is None else document.text
    one: dict[str, Json] = {
        "id": document.id,
        "text": text,
        "score": document.score,
        "source": document.source,
        "metadata": dict(document.metadata) or None,
    }
    return {name: value for name, value in one.items() if name == "text" or value is not None}


def _rfc3339(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")
