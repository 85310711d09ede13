"""Requests of OTLP as messages: told from events, in either encoding, by name or by themselves."""

from __future__ import annotations

import json

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from monitor.core.errors import InvalidMessage
from monitor.core.message import Message, Position
from monitor.core.trace import Collected
from monitor.ingest.decode import Decoder
from tests.factories.answers import at
from tests.rig.ingest.spans import TRACE

SPAN = "00f067aa0ba902b7"
AT = Position(topic="otlp", partition=0, offset=7)


def protobuf(span_id: str = SPAN) -> bytes:
    sent = ExportTraceServiceRequest()
    scoped = sent.resource_spans.add().scope_spans.add()
    scoped.spans.add(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(span_id), name="step")
    return sent.SerializeToString()


def as_json(span_id: str = SPAN) -> bytes:
    one = {"traceId": TRACE, "spanId": span_id, "name": "step"}
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}).encode()


def message(value: bytes) -> Message:
    return Message(value=value, position=AT, received_at=at(0), size=len(value))


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("auto", protobuf()), ("auto", as_json()), ("auto", b"\n" + as_json()), ("otlp", protobuf()),
        ("otlp", as_json()), ("otlp_proto", protobuf()), ("otlp_json", as_json()),
    ],
)  # fmt: skip
def test_spans_are_collected_with_the_place_of_their_message(dialect, body):
    read = Decoder(dialect=dialect).decode(message(body))
    assert isinstance(read, Collected)
    assert [(span.trace_id, span.span_id) for span in read.spans] == [(TRACE, SPAN)]
    assert (read.position, read.received_at, read.app) == (AT, at(0), None)


@pytest.mark.parametrize("dialect", ["otlp", "otlp_proto", "auto"])
def test_protobuf_whose_length_looks_like_the_start_of_json_is_protobuf(dialect):
    sent = ExportTraceServiceRequest.FromString(protobuf())
    group = sent.resource_spans[0]
    group.schema_url = "x" * (ord("{") - group.ByteSize() - 2)
    body = sent.SerializeToString()
    assert body.startswith(b"\n{")
    read = Decoder(dialect=dialect).decode(message(body))
    assert isinstance(read, Collected)
    assert len(read.spans) == 1


@pytest.mark.parametrize("dialect", ["otlp_proto", "auto"])
def test_spans_that_are_wrong_are_counted(dialect):
    sent = ExportTraceServiceRequest.FromString(protobuf())
    sent.MergeFrom(ExportTraceServiceRequest.FromString(protobuf(span_id="00")))
    read = Decoder(dialect=dialect).decode(message(sent.SerializeToString()))
    assert isinstance(read, Collected)
    assert (len(read.spans), read.rejected) == (1, 1)


def test_log_records_are_told_by_their_list():
    one = {"traceId": TRACE, "spanId": SPAN, "eventName": "gen_ai.choice"}
    body = json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [one]}]}]}).encode()
    read = Decoder().decode(message(body))
    assert isinstance(read, Collected)
    assert [log.name for log in read.logs] == ["gen_ai.choice"]


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        ("otlp_proto", as_json()), ("otlp_json", protobuf()), ("auto", b"\x0a\xff\xff"),
        ("auto", protobuf("00" * 8)), ("otlp", as_json("00" * 8)), ("otlp", b"\x00\x01"),
    ],
)  # fmt: skip
def test_what_holds_no_usable_span_is_a_dead_letter(dialect, body):
    with pytest.raises(InvalidMessage):
        Decoder(dialect=dialect).decode(message(body))
