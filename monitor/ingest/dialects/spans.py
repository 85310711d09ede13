"""What the dialects share that turn a tool's own records into spans: ids, times, texts of attributes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from monitor.core.assessment_json import storable, storable_json
from monitor.core.errors import InvalidMessage
from monitor.core.model import Json
from monitor.core.trace import Collected, Span, SpanEvent
from monitor.ingest.dialects.dialect import MAX_ID_CHARS, Context, check_count
from monitor.ingest.parse import JsonObject, kind, shown
from monitor.ingest.times import instant
from monitor.ingest.traces.otlp_values import MAX_DEPTH, MAX_ITEMS

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_SPAN = re.compile(r"[0-9a-f]{16}")
_MAX_LEVELS = 64  # of runs within runs
_JSON = json.JSONDecoder(parse_constant=lambda _name: None)  # Python writes NaN


def collected(spans: list[Span], context: Context) -> Collected:
    """The spans as what a message holds.

    Raises:
        InvalidMessage: an attribute has more levels than can be stored.
    """
    for span in spans:
        holders: tuple[Span | SpanEvent, ...] = (span, *span.events)
        for holder in holders:
            for name, value in holder.attributes.items():
                if isinstance(value, dict | list) and _is_deep(value):
                    raise InvalidMessage("$", f"has an attribute of over {MAX_DEPTH} levels: {shown(name)}")
    return Collected(received_at=context.received_at, position=context.position, spans=tuple(spans))


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        holders = [one for one in level if isinstance(one, dict | list)]
        level = [item for one in holders for item in (one.values() if isinstance(one, dict) else one)]
    return bool(level)


def records(event: JsonObject, *lists: str) -> Iterator[tuple[str, JsonObject]]:
    """The records of a page, which stand in a list under one of the names, with their paths; else the event itself.

    Raises:
        InvalidMessage: an item of the list is no object.
    """
    name = next((name for name in lists if isinstance(event.get(name), list)), None)
    if name is None:
        yield "", event
        return
    yield from items(event, name)


def items(record: JsonObject, name: str, path: str = "") -> Iterator[tuple[str, JsonObject]]:
    """The objects of the list `name` in a record, with their paths; none if there is no list. Paths end as `runs[0].`.

    Raises:
        InvalidMessage: the list is too long, or an item of it is no object.
    """
    check_count(record, name, MAX_ITEMS, path)
    listed = record.get(name)
    for i, item in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(item, dict):
            raise InvalidMessage(f"{path}{name}[{i}]", f"must be an object, got {kind(item)}")
        yield f"{path}{name}[{i}].", item


def trace_id(value: Json, path: str) -> str:
    """32 hex digits: those of a UUID or an OpenTelemetry id as they are, else the first of the id's SHA-256.

    Raises:
        InvalidMessage: it is no id.
    """
    own = _own(value, path)
    low = own.lower()
    if _UUID.fullmatch(low):
        return low.replace("-", "")
    return hashlib.sha256(own.encode()).hexdigest()[:32]


def span_id(value: Json, path: str) -> str:
    """16 hex digits: those of an OpenTelemetry id as they are, else the first of the id's SHA-256.

    Raises:
        InvalidMessage: it is no id.
    """
    own = _own(value, path)
    return own.lower() if _SPAN.fullmatch(own.lower()) else hashlib.sha256(own.encode()).hexdigest()[:16]


def _own(value: Json, path: str) -> str:
    if value is None or value == "":
        raise InvalidMessage(path, "is missing")
    if not isinstance(value, str):
        raise InvalidMessage(path, f"must be a string, got {kind(value)}")
    if len(value) > MAX_ID_CHARS:
        raise InvalidMessage(path, f"has {len(value):,} characters; the limit is {MAX_ID_CHARS:,}")
    return value


def nanoseconds(value: Json, path: str) -> int:
    """Nanoseconds since 1970 of a time, 0 for null.

    Raises:
        InvalidMessage: `value` is no time.
    """
    if value is None or value == "":
        return 0
    return (instant(value, path) - _EPOCH) // timedelta(microseconds=1) * 1000


def text(value: Json) -> str:
    """An attribute as text: a string as it is, anything else as JSON."""
    return value if isinstance(value, str) else storable(json.dumps(value, ensure_ascii=False))


def json_value(value: Json) -> Json:
    """The value itself, or what it holds if it is JSON in a text, as in exports of tables; NaN becomes null.

    Escapes in that JSON may stand for what no text can hold; see `storable_json`.
    """
    if isinstance(value, str) and value[:1] in {"{", "["}:
        try:
            held: Json = _JSON.decode(value)
        except (ValueError, RecursionError):
            return value
        return held
    return value


def json_object(value: Json) -> JsonObject:
    """The object that a value is, or holds as JSON in a text, with storable texts; an empty one if there is none."""
    held = json_value(value)
    if not isinstance(held, dict):
        return {}
    return held if held is value else {storable(name): storable_json(item) for name, item in held.items()}


def given(attributes: Mapping[str, Json]) -> dict[str, Json]:
    """The attributes that have a value."""
    return {name: value for name, value in attributes.items() if value is not None and value != ""}


def nested(event: JsonObject, path: str, children: str, read: Callable[[JsonObject, str], Span]) -> Iterator[Span]:
    """The spans of a record and of the records within it, parents first.

    Raises:
        InvalidMessage: they are nested too deeply, or an item is no object.
    """
    level = [(path, event)]
    for _ in range(_MAX_LEVELS):
        below: list[tuple[str, JsonObject]] = []
        for place, record in level:
            yield read(record, place)
            below += items(record, children, place)
        if not below:
            return
        level = below
    raise InvalidMessage(f"{path}{children}", f"is nested too deeply; the limit is {_MAX_LEVELS} levels")
