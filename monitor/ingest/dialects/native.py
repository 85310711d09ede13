"""The native event: the fields of `Interaction` under their own names (docs/start/events.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import Discriminator, Field, Tag

from monitor.core.errors import InvalidMessage
from monitor.core.model import Document, Interaction, Json, SupportingDocument, TokenUsage, Unscored
from monitor.core.trace import Collected
from monitor.ingest.dialects.dialect import (
    Context,
    Count,
    Dialect,
    DocumentId,
    Event,
    Id,
    LongName,
    ModelName,
    Name,
    bounded,
    check_count,
    content_id,
    identifier,
    optional_identifier,
    timed,
    validated,
)
from monitor.ingest.dialects.feedback import feedback_alone, is_alone, thumbs_beside
from monitor.ingest.parse import JsonObject, kind, path_of, shown

MAX_TAGS = 64
MAX_TAG_NAME_CHARS = 128
MAX_TAG_CHARS = 1024
MAX_METADATA_DEPTH = 32
MAX_METADATA_VALUES = 1_000
MAX_TRACE_ID_BYTES = 2_048

_Number: TypeAlias = Annotated[float, Field(allow_inf_nan=False)]


class _DocumentEvent(Event):
    text: str
    id: DocumentId | None = None
    score: _Number | None = None
    source: str | None = None
    metadata: dict[str, Any] | None = None


class _SupportEvent(Event):
    text: str
    document_id: DocumentId | None = None
    start: Count | None = None
    end: Count | None = None


class _UsageEvent(Event):
    """Tokens under the names of `Interaction`, or of the two common client libraries."""

    input: Count | None = None
    output: Count | None = None
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None


def _text_or_object(value: object) -> str | None:
    return "<text>" if type(value) is str else "<object>" if type(value) is dict else None


_TextOrObject = Discriminator(
    _text_or_object, custom_error_type="text_or_object", custom_error_message="must be a string or an object"
)
_DocumentItem: TypeAlias = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[_DocumentEvent, Tag("<object>")], _TextOrObject
]
_SupportItem: TypeAlias = Annotated[
    Annotated[str, Tag("<text>")] | Annotated[_SupportEvent, Tag("<object>")], _TextOrObject
]


class _NativeEvent(Event):
    id: Id | None = None
    app: Name | None = None
    environment: Name | None = None
    occurred_at: Any = None  # times.py reads it
    conversation_id: Id | None = None
    turn: Count | None = None
    question: str
    # Failing fast: a list of a million wrong items would otherwise gather a million errors.
    retrieved_documents: Annotated[list[_DocumentItem], Field(fail_fast=True)]
    answer: str
    supporting_documents: Annotated[list[_SupportItem] | None, Field(fail_fast=True)] = None
    reference_answer: str | None = None
    model: ModelName | None = None
    prompt_version: Id | None = None
    tags: dict[str, Any] | None = None
    trace_id: LongName | None = None
    span_id: LongName | None = None
    latency_ms: Annotated[_Number, Field(ge=0)] | None = None
    usage: _UsageEvent | None = None
    feedback: Any = None  # what is not in our form belongs to somebody else


def read(event: JsonObject, context: Context) -> Interaction | Collected:
    """The interaction that a native event describes, or the feedback if it has nothing else.

    Raises:
        InvalidMessage: a field is missing, of the wrong type or too long.
    """
    if is_alone(event):
        return feedback_alone(event, context)
    check_count(event, "retrieved_documents", context.max_documents)
    check_count(event, "supporting_documents", context.max_documents)
    unscored = _unscored(event.get("unscored"))
    fields = validated(_NativeEvent, event if unscored is None else _without_nulls(event))
    if fields.id is not None:
        key = identifier(fields.id, "id")
    elif context.id is not None:
        key = context.id
    else:
        raise InvalidMessage("id", "is missing")
    occurred_at, marks = timed(fields.occurred_at, context)
    limit = context.max_text_chars
    support = fields.supporting_documents
    reference = fields.reference_answer
    return Interaction(
        id=key,
        app=fields.app or context.app,
        occurred_at=occurred_at,
        question=bounded(fields.question, limit, "question"),
        answer=bounded(fields.answer, limit, "answer"),
        retrieved_documents=tuple([_document(item, i, limit) for i, item in enumerate(fields.retrieved_documents)]),
        supporting_documents=None if support is None else tuple([_support(s, i, limit) for i, s in enumerate(support)]),
        environment=fields.environment or context.environment,
        conversation_id=optional_identifier(fields.conversation_id, "conversation_id"),
        turn=fields.turn,
        reference_answer=None if reference is None else bounded(reference, limit, "reference_answer"),
        model=fields.model or None,
        prompt_version=optional_identifier(fields.prompt_version, "prompt_version"),
        tags=_tags(fields.tags, context.tags),
        trace_id=_trace_id(fields.trace_id) or context.trace_id,
        span_id=fields.span_id or None,
        latency_ms=fields.latency_ms,
        usage=None if fields.usage is None else _usage(fields.usage),
        marks=marks,
        feedback=thumbs_beside(fields.feedback, key),
        position=context.position,
        unscored=unscored,
    )


DIALECT = Dialect(name="native", signs=frozenset({"question", "answer"}), read=read)
FEEDBACK = Dialect(name="feedback", signs=frozenset({"feedback"}), read=read)  # and says what an interaction lacks


def _trace_id(value: str | None) -> str | None:
    """The id itself; it is indexed, so its bytes count, not only its characters."""
    size = len((value or "").encode())
    if size > MAX_TRACE_ID_BYTES:
        raise InvalidMessage("trace_id", f"has {size:,} bytes in UTF-8; the limit is {MAX_TRACE_ID_BYTES:,}")
    return value


def _unscored(value: Json) -> Unscored | None:
    if value is None:
        return None
    known = [reason for reason in Unscored if reason.lacking]  # what a probe asked, no event can say of itself
    if value not in known:
        raise InvalidMessage("unscored", f"must be one of {', '.join(known)}; got {shown(value)}")
    return Unscored(value)


def _without_nulls(event: JsonObject) -> JsonObject:
    """The event of an unscored turn, in which texts that are not known are empty."""
    documents = event.get("retrieved_documents")
    if isinstance(documents, list):
        documents = [{**d, "text": ""} if isinstance(d, dict) and d.get("text") is None else d for d in documents]
    texts: JsonObject = {name: "" for name in ("question", "answer") if event.get(name) is None}
    return {**event, **texts, "retrieved_documents": [] if documents is None else documents}


def _document(item: str | _DocumentEvent, i: int, limit: int) -> Document:
    if isinstance(item, str):
        return Document(id=content_id(item), text=bounded(item, limit, "retrieved_documents", i))
    text, metadata = item.text, item.metadata or {}
    if len(text) > limit:
        bounded(text, limit, "retrieved_documents", i, "text")
    if metadata:
        _bounded_metadata(metadata, path_of(("retrieved_documents", i, "metadata")))
    if isinstance(item.id, int):
        key = identifier(item.id, "retrieved_documents", i, "id")
    else:
        key = item.id or content_id(text)
    return Document(id=key, text=text, score=item.score, source=item.source or None, metadata=metadata)


def _support(item: str | _SupportEvent, i: int, limit: int) -> SupportingDocument:
    if isinstance(item, str):
        return SupportingDocument(text=bounded(item, limit, "supporting_documents", i))
    start, end = item.start, item.end
    if (start is None) != (end is None):
        missing = "start" if start is None else "end"
        raise InvalidMessage(path_of(("supporting_documents", i, missing)), "is missing: start and end come together")
    if start is not None and end is not None and end < start:
        raise InvalidMessage(path_of(("supporting_documents", i, "end")), f"must be at least start, {start}; got {end}")
    return SupportingDocument(
        text=bounded(item.text, limit, "supporting_documents", i, "text"),
        document_id=optional_identifier(item.document_id, "supporting_documents", i, "document_id"),
        start=start,
        end=end,
    )


def _tags(own: Mapping[str, Json] | None, given: Mapping[str, str]) -> dict[str, str]:
    tags = dict(given)
    if not own:
        return tags
    if len(own) > MAX_TAGS:
        raise InvalidMessage("tags", f"has {len(own):,} items; the limit is {MAX_TAGS}")
    for name, value in own.items():
        if value is None:
            continue
        if isinstance(value, str):
            text = value
        elif isinstance(value, bool):
            text = "true" if value else "false"
        elif isinstance(value, int | float):
            text = repr(value)  # for numbers the same as in JSON
        else:
            raise InvalidMessage(path_of(("tags", name)), f"must be a string, number or boolean, got {kind(value)}")
        if len(name) > MAX_TAG_NAME_CHARS:
            raise InvalidMessage(path_of(("tags", name)), f"is a name of over {MAX_TAG_NAME_CHARS} characters")
        tags[name] = bounded(text, MAX_TAG_CHARS, "tags", name)
    return tags


def _usage(usage: _UsageEvent) -> TokenUsage | None:
    given = _first(usage.input, usage.prompt_tokens, usage.input_tokens)
    made = _first(usage.output, usage.completion_tokens, usage.output_tokens)
    return None if given is None and made is None else TokenUsage(input=given, output=made)


def _first(*counts: int | None) -> int | None:
    for count in counts:
        if count is not None:
            return count
    return None


def _bounded_metadata(metadata: dict[str, Json], path: str) -> None:
    """Limits levels and number of values, since a few bytes of JSON can become a large object."""
    level: list[Json] = [metadata]
    values = 0
    for _ in range(MAX_METADATA_DEPTH):
        below = [item for value in level for item in (value.values() if isinstance(value, dict) else value or ())]  # type: ignore[union-attr]
        values += len(below)
        if values > MAX_METADATA_VALUES:
            raise InvalidMessage(path, f"holds too many values; the limit is {MAX_METADATA_VALUES:,}")
        level = [item for item in below if isinstance(item, dict | list)]
        if not level:
            return
    raise InvalidMessage(path, f"is nested too deeply; the limit is {MAX_METADATA_DEPTH} levels")
