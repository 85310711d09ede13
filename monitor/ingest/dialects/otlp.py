"""Requests of OTLP, as the OpenTelemetry Collector writes them to Kafka and to files: spans and log records of traces.

`otlp` tells the encoding by itself; `otlp_proto` and `otlp_json` are called as the Collector calls the encodings.
"""

from __future__ import annotations

from monitor.core.errors import InvalidMessage
from monitor.core.trace import Collected
from monitor.ingest.dialects.dialect import Context, Dialect
from monitor.ingest.parse import JsonObject, parse_object
from monitor.ingest.records import is_protobuf_like_json
from monitor.ingest.traces.otlp import Telemetry, read_object, read_protobuf
from monitor.ingest.traces.otlp_json import LOGS, SPANS

_FIRST_FIELD = b"\x0a"  # of both requests: a list of resources; also a line feed, with which JSON may begin


def read_if_protobuf(body: bytes, context: Context) -> Collected | None:
    """What a request in protobuf holds; None if the bytes are none, or it holds nothing.

    Raises:
        InvalidMessage: it is one, and nothing in it can be used.
    """
    if not body.startswith(_FIRST_FIELD) or _is_json(body):
        return None
    try:
        found = read_protobuf(body)
    except InvalidMessage:
        return None
    return _collected(found, context) if found.spans or found.logs or found.rejected else None


def read(event: JsonObject, context: Context) -> Collected:
    """The spans or log records of a request in JSON.

    Raises:
        InvalidMessage: it holds neither list, or nothing in it can be used.
    """
    return _collected(read_object(event), context)


def read_proto_bytes(body: bytes, context: Context) -> Collected:
    return _collected(read_protobuf(body), context)


def read_json_bytes(body: bytes, context: Context) -> Collected:
    event, _ = parse_object(body)
    return read(event, context)


def read_bytes(body: bytes, context: Context) -> Collected:
    """A request in either encoding."""
    return (read_json_bytes if _is_json(body) else read_proto_bytes)(body, context)


def _is_json(body: bytes) -> bool:
    return body.lstrip().startswith(b"{") and not is_protobuf_like_json(body)


def _collected(found: Telemetry, context: Context) -> Collected:
    if found.rejected and not found.spans and not found.logs:
        raise InvalidMessage("$", f"holds no usable span: {found.problem}")
    return Collected(
        received_at=context.received_at,
        position=context.position,
        spans=found.spans,
        logs=found.logs,
        rejected=found.rejected,
    )


# Two of them take part in telling the dialect of JSON: one by the list of spans, one by that of log records.
OTLP = Dialect(name="otlp", signs=frozenset({SPANS}), read=read, read_bytes=read_bytes)
OTLP_JSON = Dialect(name="otlp_json", signs=frozenset({LOGS}), read=read, read_bytes=read_json_bytes)
OTLP_PROTO = Dialect(name="otlp_proto", signs=frozenset(), read=read, read_bytes=read_proto_bytes)
