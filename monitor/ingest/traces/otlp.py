"""Reads the requests of OTLP, as protobuf and as JSON. In: the body of a request. Out: its spans and log records.

Sources: opentelemetry-proto `trace.proto`, `logs.proto`; the OpenTelemetry protocol specification, "JSON Protobuf
Encoding": ids as hexadecimal, 64-bit integers as strings or numbers, enums as numbers, unknown fields ignored.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

from google.protobuf.message import DecodeError

from monitor.core.assessment_json import storable
from monitor.core.errors import InvalidMessage
from monitor.core.model import Json
from monitor.core.trace import LogRecord, Span, SpanEvent
from monitor.ingest.parse import JsonObject, parse_object
from monitor.ingest.traces.otlp_json import LOGS, SPANS, holds, logs_of, spans_of
from monitor.ingest.traces.otlp_messages import AnyValue, ExportLogsServiceRequest, ExportTraceServiceRequest, KeyValue
from monitor.ingest.traces.otlp_messages import LogRecord as LogMessage
from monitor.ingest.traces.otlp_messages import Span as SpanMessage
from monitor.ingest.traces.otlp_values import (
    MAX_ATTRIBUTES,
    MAX_DEPTH,
    MAX_EVENTS,
    MAX_SHARED_CHARS,
    Unusable,
    checked_ids,
    kept_of_resource,
)
from monitor.ingest.traces.otlp_wire import check_count

_STATUS_ERROR = 2
_Message = TypeVar("_Message")
_Read = TypeVar("_Read")


class Telemetry(NamedTuple):
    """What a request holds; `rejected` spans or log records were left out, the first of them because of `problem`."""

    spans: tuple[Span, ...] = ()
    logs: tuple[LogRecord, ...] = ()
    rejected: int = 0
    problem: str = ""


def read_request(body: bytes, *, logs: bool, json: bool) -> Telemetry:
    """The spans of an ExportTraceServiceRequest, or the log records of an ExportLogsServiceRequest.

    A span or record that is wrong alone is left out and counted; log records without a span are left out uncounted.

    Raises:
        InvalidMessage: the body is no such request; the path is `$`, or that of the field where it is known.
    """
    left_out: list[str] = []
    if json:
        request, _ = parse_object(body)
        if logs:
            return _telemetry(logs=logs_of(request, left_out), left_out=left_out)
        return _telemetry(spans=spans_of(request, left_out), left_out=left_out)
    check_count(body)
    try:
        if logs:
            return _telemetry(logs=_logs(ExportLogsServiceRequest.FromString(body), left_out), left_out=left_out)
        return _telemetry(spans=_spans(ExportTraceServiceRequest.FromString(body), left_out), left_out=left_out)
    except DecodeError:
        what = "ExportLogsServiceRequest" if logs else "ExportTraceServiceRequest"
        raise InvalidMessage("$", f"is no {what} in protobuf") from None


def read_object(request: JsonObject) -> Telemetry:
    """The spans or log records of a request in JSON, whichever it has.

    Raises:
        InvalidMessage: it has neither; otherwise as `read_request`.
    """
    left_out: list[str] = []
    has_logs = holds(request, LOGS)
    spans = spans_of(request, left_out) if holds(request, SPANS) or not has_logs else ()
    logs = logs_of(request, left_out) if has_logs else ()
    return _telemetry(spans=spans, logs=logs, left_out=left_out)


def read_protobuf(body: bytes) -> Telemetry:
    """The spans or log records of a request in protobuf; which of them, its fields tell.

    Raises:
        InvalidMessage: it is neither request.
    """
    check_count(body)
    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        return _only_logs(body)
    groups = (scoped for group in request.resource_spans for scoped in group.scope_spans)
    # a log record has its time where a span has the id of its trace, so that no id is read
    if any(span.trace_id or span.name for scoped in groups for span in scoped.spans):
        left_out: list[str] = []
        return _telemetry(spans=_spans(request, left_out), left_out=left_out)
    return _only_logs(body)


def _only_logs(body: bytes) -> Telemetry:
    try:
        return read_request(body, logs=True, json=False)
    except InvalidMessage:
        raise InvalidMessage("$", "is no request of OTLP in protobuf") from None


def _telemetry(*, spans: Iterable[Span] = (), logs: Iterable[LogRecord] = (), left_out: list[str]) -> Telemetry:
    found = Telemetry(tuple(spans), tuple(logs))  # reads both, and so fills `left_out`
    return found._replace(rejected=len(left_out), problem=left_out[0] if left_out else "")


def _spans(request: ExportTraceServiceRequest, left_out: list[str]) -> list[Span]:
    found = []
    for resource_spans in request.resource_spans:
        resource = _resource(resource_spans.resource.attributes, left_out)
        for scope_spans in resource_spans.scope_spans:
            scope = storable(scope_spans.scope.name)[:MAX_SHARED_CHARS]
            found += _readable(scope_spans.spans, partial(_span, scope=scope, resource=resource), left_out)
    return found


def _logs(request: ExportLogsServiceRequest, left_out: list[str]) -> list[LogRecord]:
    found = []
    for resource_logs in request.resource_logs:
        resource = _resource(resource_logs.resource.attributes, left_out)
        for scope_logs in resource_logs.scope_logs:
            scope = storable(scope_logs.scope.name)[:MAX_SHARED_CHARS]
            of_spans = [record for record in scope_logs.log_records if record.trace_id and record.span_id]
            found += _readable(of_spans, partial(_log, scope=scope, resource=resource), left_out)
    return found


def _readable(items: Iterable[_Message], read: Callable[[_Message], _Read], left_out: list[str]) -> list[_Read]:
    found = []
    for item in items:
        try:
            found.append(read(item))
        except Unusable as error:
            left_out.append(str(error))
    return found


def _resource(attributes: Iterable[KeyValue], left_out: list[str]) -> Mapping[str, Json]:
    try:
        return kept_of_resource(_attributes(attributes))
    except Unusable as error:
        left_out.append(f"resource: {error}")
        return {}


def _span(message: SpanMessage, scope: str, resource: Mapping[str, Json]) -> Span:
    trace_id, span_id, parent_id = checked_ids(
        message.trace_id.hex(), message.span_id.hex(), message.parent_span_id.hex()
    )
    if len(message.events) > MAX_EVENTS:
        raise Unusable(f"has {len(message.events):,} events; the limit is {MAX_EVENTS:,}")
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_id=parent_id,
        name=storable(message.name),
        started=message.start_time_unix_nano,
        ended=message.end_time_unix_nano,
        scope=scope,
        failed=message.status.code == _STATUS_ERROR,
        problem=storable(message.status.message),
        attributes=_attributes(message.attributes),
        dropped_attributes=message.dropped_attributes_count,
        events=tuple(
            [
                SpanEvent(name=storable(e.name), at=e.time_unix_nano, attributes=_attributes(e.attributes))
                for e in message.events
            ]
        ),
        resource=resource,
    )


def _log(message: LogMessage, scope: str, resource: Mapping[str, Json]) -> LogRecord:
    trace_id, span_id, _ = checked_ids(message.trace_id.hex(), message.span_id.hex(), "")
    attributes = _attributes(message.attributes)
    return LogRecord(
        trace_id=trace_id,
        span_id=span_id,
        name=storable(message.event_name) or str(attributes.get("event.name") or ""),
        at=message.time_unix_nano or message.observed_time_unix_nano,
        body=_value(message.body, 0),
        attributes=attributes,
        scope=scope,
        resource=resource,
    )


def _attributes(pairs: Any) -> dict[str, Json]:
    if len(pairs) > MAX_ATTRIBUTES:
        raise Unusable(f"has {len(pairs):,} attributes; the limit is {MAX_ATTRIBUTES:,}")
    return {storable(pair.key): _value(pair.value, 0) for pair in pairs}


def _value(value: AnyValue, depth: int) -> Json:
    """Text first, since nearly all values are."""
    kind = value.WhichOneof("value")
    read: Json = None
    if kind == "string_value":
        read = storable(value.string_value)
    elif kind == "array_value":
        read = [_value(item, _deeper(depth)) for item in value.array_value.values]
    elif kind == "kvlist_value":
        read = {storable(pair.key): _value(pair.value, _deeper(depth)) for pair in value.kvlist_value.values}
    elif kind == "bytes_value":
        read = b64encode(value.bytes_value).decode("ascii")
    elif kind == "double_value":  # JSON, in which it is stored, has no infinity
        read = value.double_value if math.isfinite(value.double_value) else None
    elif kind is not None:
        read = getattr(value, kind)
    return read


def _deeper(depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise Unusable(f"has an attribute of over {MAX_DEPTH} levels")
    return depth + 1
