"""Reads OTLP as JSON; the field names are in camel case, and those of the protobuf files are read too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TypeVar

from monitor.core.errors import InvalidMessage
from monitor.core.model import Json
from monitor.core.trace import LogRecord, Span, SpanEvent
from monitor.ingest.parse import JsonObject, kind, path_of
from monitor.ingest.traces.otlp_values import (
    LATEST,
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_EVENTS,
    MAX_SHARED_CHARS,
    Items,
    Unusable,
    checked_ids,
    kept_of_resource,
)

_ERROR = (2, "2", "STATUS_CODE_ERROR", "ERROR")
_Read = TypeVar("_Read")
SPANS, LOGS = "resourceSpans", "resourceLogs"


def holds(request: JsonObject, name: str) -> bool:
    """Whether the request has the list `SPANS`, or `LOGS`, in either spelling."""
    return name in request or _snake(name) in request


def spans_of(request: JsonObject, left_out: list[str]) -> list[Span]:
    """The spans of a request; problems of single spans are added to `left_out`.

    Raises:
        InvalidMessage: a list of it is missing, or is none.
    """
    return _items(request, (SPANS, "scopeSpans", "spans"), _span, left_out)


def logs_of(request: JsonObject, left_out: list[str]) -> list[LogRecord]:
    """The log records of a request that belong to a span; as `spans_of` otherwise."""
    return _items(request, (LOGS, "scopeLogs", "logRecords"), _log, left_out)


def _items(
    request: JsonObject,
    names: tuple[str, str, str],
    read: Callable[[JsonObject, str, Mapping[str, Json]], _Read | None],
    left_out: list[str],
) -> list[_Read]:
    """Walks from the request through resources and scopes to the spans or records."""
    by_resource, by_scope, of_scope = names
    if not holds(request, by_resource):
        raise InvalidMessage(by_resource, "is missing")
    found, items = [], Items()
    for i, group in _objects(request, by_resource, ()):
        items.take(1)
        resource = _resource(group, left_out)
        for j, scoped in _objects(group, by_scope, (by_resource, i)):
            items.take(1)
            scope = _object(scoped, "scope")
            name = _text(scope, "name")[:MAX_SHARED_CHARS]
            for _, item in _objects(scoped, of_scope, (by_resource, i, by_scope, j)):
                items.take(1)
                try:
                    one = read(item, name, resource)
                except InvalidMessage as error:
                    left_out.append(str(error))
                    continue
                if one is not None:
                    found.append(one)
    return found


def _resource(group: JsonObject, left_out: list[str]) -> Mapping[str, Json]:
    try:
        return kept_of_resource(_attributes(_object(group, "resource")))
    except Unusable as error:
        left_out.append(f"resource: {error}")
        return {}


def _span(item: JsonObject, scope: str, resource: Mapping[str, Json]) -> Span:
    trace_id, span_id, parent_id = checked_ids(
        _text(item, "traceId"), _text(item, "spanId"), _text(item, "parentSpanId")
    )
    status = _object(item, "status")
    events = list(islice(_objects(item, "events", ()), MAX_EVENTS + 1))
    if len(events) > MAX_EVENTS:
        raise Unusable(f"has more than {MAX_EVENTS:,} events")
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        name=_text(item, "name"),
        started=_time(item, "startTimeUnixNano"),
        ended=_time(item, "endTimeUnixNano"),
        scope=scope,
        failed=status.get("code") in _ERROR,
        problem=_text(status, "message"),
        attributes=_attributes(item),
        dropped_attributes=_count(item, "droppedAttributesCount"),
        events=tuple(
            [
                SpanEvent(name=_text(e, "name"), at=_time(e, "timeUnixNano"), attributes=_attributes(e))
                for _, e in events
            ]
        ),
        resource=resource,
    )


def _log(item: JsonObject, scope: str, resource: Mapping[str, Json]) -> LogRecord | None:
    if not _text(item, "traceId") or not _text(item, "spanId"):
        return None
    trace_id, span_id, _ = checked_ids(_text(item, "traceId"), _text(item, "spanId"), "")
    attributes = _attributes(item)
    return LogRecord(
        trace_id=trace_id,
        span_id=span_id,
        name=_text(item, "eventName") or str(attributes.get("event.name") or ""),
        at=_time(item, "timeUnixNano") or _time(item, "observedTimeUnixNano"),
        body=_value(item.get("body"), 0),
        attributes=attributes,
        scope=scope,
        resource=resource,
    )


def _attributes(item: JsonObject) -> dict[str, Json]:
    pairs = item.get("attributes")
    if pairs is None:
        return {}
    if not isinstance(pairs, list):
        raise Unusable(f"attributes must be a list, got {kind(pairs)}")
    if len(pairs) > MAX_ATTRIBUTES:
        raise Unusable(f"has {len(pairs):,} attributes; the limit is {MAX_ATTRIBUTES:,}")
    return dict(_pairs(pairs, 0))


def _pairs(pairs: Json, depth: int) -> Iterator[tuple[str, Json]]:
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, dict) and isinstance(key := pair.get("key"), str):
            yield key, _value(pair.get("value"), depth)


def _value(value: Json, depth: int) -> Json:
    """The value of an AnyValue: an object with one of seven members, or none."""
    if not isinstance(value, dict):
        return None
    if depth > MAX_DEPTH:
        raise Unusable(f"has an attribute of over {MAX_DEPTH} levels")
    for name, given in value.items():
        if (read := _READERS.get(name)) is not None:
            return read(given, depth)
    return None


def _array(given: Json, depth: int) -> Json:
    items = given.get("values") if isinstance(given, dict) else None
    return [_value(item, depth + 1) for item in items] if isinstance(items, list) else []


def _object_value(given: Json, depth: int) -> Json:
    return dict(_pairs(given.get("values") if isinstance(given, dict) else None, depth + 1))


def _whole(value: Json) -> int | None:
    """A 64-bit integer, which JSON carries as a string or a number."""
    try:
        number = int(value) if isinstance(value, str | int | float) else None
    except ValueError:
        return None
    return number if number is not None and -(2**63) <= number < 2**64 else None


def _double(value: Json) -> float | None:
    """A number; JSON names infinities and NaN as strings, which are left out, since no column holds them."""
    try:
        number = float(value) if isinstance(value, str | int | float) else 0.0
    except (ValueError, OverflowError):
        return None
    return number if number - number == 0.0 else None


_READERS: Mapping[str, Callable[[Json, int], Json]] = {
    spelling: reader
    for name, reader in {
        "stringValue": lambda given, _: given if isinstance(given, str) else None,
        "boolValue": lambda given, _: given if isinstance(given, bool) else None,
        "bytesValue": lambda given, _: given if isinstance(given, str) else None,
        "intValue": lambda given, _: _whole(given),
        "doubleValue": lambda given, _: _double(given),
        "arrayValue": _array,
        "kvlistValue": _object_value,
    }.items()
    for spelling in (name, name.replace("V", "_v"))
}


def _time(item: JsonObject, name: str) -> int:
    given = _member(item, name)
    if given is None:
        return 0
    number = _whole(given)
    if number is None or not 0 <= number <= LATEST:
        raise Unusable(f"{name} is no time in nanoseconds since 1970")
    return number


def _count(item: JsonObject, name: str) -> int:
    return max(_whole(_member(item, name)) or 0, 0)


def _text(item: JsonObject, name: str) -> str:
    given = _member(item, name)
    return given if isinstance(given, str) else ""


def _object(item: JsonObject, name: str) -> JsonObject:
    given = _member(item, name)
    return given if isinstance(given, dict) else {}


def _objects(item: JsonObject, name: str, path: tuple[str | int, ...]) -> Iterator[tuple[int, JsonObject]]:
    given = _member(item, name)
    if given is None:
        return
    if not isinstance(given, list):
        raise InvalidMessage(path_of((*path, name)), f"must be a list, got {kind(given)}")
    for i, one in enumerate(given):
        if not isinstance(one, dict):
            raise InvalidMessage(path_of((*path, name, i)), f"must be an object, got {kind(one)}")
        yield i, one


def _member(item: JsonObject, name: str) -> Json:
    return item.get(name) if name in item else item.get(_snake(name))


def _snake(name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in name)
