"""A turn as a native event (docs/start/events.md)."""

from __future__ import annotations

from datetime import datetime

from pydantic_core import to_json

from monitor.core.assessment_json import storable_json
from monitor.core.model import Json
from monitor.ingest.traces.turn import Turn, TurnDocument

_APP_CHARS = 128
_ID_CHARS = 512
_MODEL_CHARS = 256
_TAG_CHARS = 1024
_DOCUMENT_ID_CHARS = 2048
_METADATA_VALUES = 100
_DOCUMENTS = 1_000


def native_event(turn: Turn, *, app: str) -> bytes:
    """The event as JSON. Question, answer, documents and their texts are null only if the turn is `unscored`.

    Names, ids and the list of documents are cut to what the native dialect takes.
    """
    usage, user = turn.usage, turn.user
    event: dict[str, Json] = {
        "id": turn.trace_id,
        "app": app[:_APP_CHARS],
        "environment": None if turn.environment is None else turn.environment[:_APP_CHARS],
        "occurred_at": _rfc3339(turn.ended),
        "conversation_id": None if turn.conversation_id is None else turn.conversation_id[:_ID_CHARS],
        "question": turn.question,
        "retrieved_documents": None if turn.documents is None else [_document(d) for d in turn.documents[:_DOCUMENTS]],
        "answer": turn.answer,
        "model": None if turn.model is None else turn.model[:_MODEL_CHARS],
        "tags": {**turn.tags, **({"user": user[:_TAG_CHARS]} if user else {})} or None,
        "trace_id": turn.trace_id,
        "span_id": turn.span_id,
        "latency_ms": max((turn.ended - turn.started).total_seconds() * 1000, 0.0),
        "usage": None if usage is None else {"input": usage.input, "output": usage.output},
        "unscored": turn.unscored,
    }
    always = {"question", "retrieved_documents", "answer"}
    given = {name: value for name, value in event.items() if name in always or value is not None}
    return to_json(storable_json(given), inf_nan_mode="null")  # Python writes NaN into the JSON of attributes


def _document(document: TurnDocument) -> Json:
    one: dict[str, Json] = {
        "id": None if document.id is None else document.id[:_DOCUMENT_ID_CHARS],
        "text": document.in_prompt if document.text is None else document.text,
        "score": document.score,
        "source": document.source,
        "metadata": dict(list(document.metadata.items())[:_METADATA_VALUES]) or None,
    }
    return {name: value for name, value in one.items() if name == "text" or value is not None}


def _rfc3339(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")
