"""CloudEvents 1.0 around an event of another dialect, in both content modes (docs/start/events.md).

Sources: cloudevents/spec `cloudevents/formats/json-format.md` §3, `cloudevents/bindings/kafka-protocol-binding.md` §3.
Attributes that the specification requires but an interaction does not need may be missing: `type`, and `id` beside an
event's own.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from monitor.core.assessment_json import storable
from monitor.core.errors import InvalidMessage
from monitor.core.model import Interaction, Json, Mark
from monitor.core.trace import Collected
from monitor.ingest.dialects.dialect import (
    Context,
    Dialect,
    Event,
    Headers,
    Id,
    optional_identifier,
    validated,
)
from monitor.ingest.parse import JsonObject, kind, parse_object, shown
from monitor.ingest.times import instant

SOURCE_TAG = "ce_source"
_MEDIA_TYPE = b"application/cloudevents"
_PREFIXES = ("ce_", "ce-")  # Kafka's, and HTTP's for messages that a bridge carried over
_VERSION_HEADERS = frozenset({"ce_specversion", "ce-specversion"})
_ATTRIBUTES = frozenset({"specversion", "id", "source", "type", "time", "traceparent"})
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-(?P<trace_id>[0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")


class _Attributes(Event):
    specversion: str
    id: Id | None = None
    source: Annotated[str, Field(max_length=1024)] | None = None
    type: str | None = None
    time: Any = None  # times.py reads it
    traceparent: str | None = None


def announced(headers: Headers) -> bool:
    """Whether the headers say that the message is a CloudEvent, in either mode."""
    return _in_structured_mode(headers) or _in_binary_mode(headers)


def read(event: JsonObject, context: Context) -> Interaction | Collected:
    """The interaction in a CloudEvent: structured if the event or the content type says so, binary otherwise.

    Raises:
        InvalidMessage: the envelope or what it holds is wrong; the path begins with `data.` for what it holds, and is
            the header's name for an attribute in binary mode.
    """
    if "specversion" not in event and _in_binary_mode(context.headers):
        inner = _enveloped_by_headers(context)
        data, replaced = event, False
    else:
        inner = _enveloped(event, context)
        data, replaced = _data(event)
    if replaced:
        inner = replace(inner, marks=inner.marks | {Mark.TEXT_REPLACED})
    try:
        return context.read_data(data, inner)
    except InvalidMessage as error:
        raise InvalidMessage(_under("data", error.path), error.problem) from None


DIALECT = Dialect(name="cloudevents", signs=frozenset({"specversion"}), read=read, announced=announced, envelope=True)


def _enveloped(attributes: JsonObject, context: Context) -> Context:
    """`context` with the values of the attributes."""
    envelope = validated(_Attributes, attributes)
    version = envelope.specversion
    if version != "1" and not version.startswith("1."):
        raise InvalidMessage("specversion", f"must be 1.x, got {shown(version)}")
    trace = _TRACEPARENT.fullmatch(envelope.traceparent or "")
    source = envelope.source
    return replace(
        context,
        id=optional_identifier(envelope.id, "id"),
        occurred_at=None if envelope.time is None else instant(envelope.time, "time"),
        # As W3C Trace Context has it, a traceparent that cannot be read is ignored.
        trace_id=trace["trace_id"] if trace and trace["trace_id"].strip("0") else None,
        tags={SOURCE_TAG: source} if source else {},
    )


def _enveloped_by_headers(context: Context) -> Context:
    attributes: dict[str, Json] = {}
    names: dict[str, str] = {}
    replaced = False
    for name, value in context.headers:  # of a repeated header the last counts, as for Kafka's lastHeader()
        attribute = name[3:].lower()
        if name[:3].lower() not in _PREFIXES or attribute not in _ATTRIBUTES or not value:
            continue
        try:
            text = value.decode()
        except UnicodeDecodeError as error:
            raise InvalidMessage(name, f"is not UTF-8: bad byte at offset {error.start}") from None
        stored = storable(text)
        replaced = replaced or stored != text
        attributes[attribute] = stored
        names[attribute] = name
    try:
        inner = _enveloped(attributes, context)
    except InvalidMessage as error:
        raise InvalidMessage(names.get(error.path, f"ce_{error.path}"), error.problem) from None
    return replace(inner, marks=inner.marks | {Mark.TEXT_REPLACED}) if replaced else inner


def _data(event: JsonObject) -> tuple[JsonObject, bool]:
    """The data of a structured event, and whether characters were replaced in it."""
    encoded, data = event.get("data_base64"), event.get("data")
    if encoded is None:
        if data is None:
            raise InvalidMessage("data", "is missing")
        if not isinstance(data, dict):
            raise InvalidMessage("data", f"must be an object, got {kind(data)}")
        return data, False
    if data is not None:
        raise InvalidMessage("data_base64", "stands beside data: an event has one of them")
    if not isinstance(encoded, str):
        raise InvalidMessage("data_base64", f"must be a string, got {kind(encoded)}")
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidMessage("data_base64", "is not base64") from None
    try:
        return parse_object(raw)
    except InvalidMessage as error:
        raise InvalidMessage(_under("data_base64", error.path), error.problem) from None


def _under(field: str, path: str) -> str:
    if path == "$":
        return field
    return field + path if path.startswith("[") else f"{field}.{path}"


def _in_structured_mode(headers: Headers) -> bool:
    return any(
        name.lower() == "content-type" and value.strip().lower().startswith(_MEDIA_TYPE) for name, value in headers
    )


def _in_binary_mode(headers: Headers) -> bool:
    """The content type decides first: a structured event may repeat its attributes as headers."""
    return not _in_structured_mode(headers) and any(name.lower() in _VERSION_HEADERS for name, _ in headers)
