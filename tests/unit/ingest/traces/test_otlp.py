"""OTLP's two encodings say the same, and what is wrong in a request is told, or left out alone."""

from __future__ import annotations

import json

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from monitor.core.errors import InvalidMessage
from monitor.ingest.traces.otlp import read_object, read_protobuf, read_request
from monitor.ingest.traces.otlp_values import MAX_ATTRIBUTES, MAX_DEPTH, MAX_SHARED_CHARS
from tests.rig.ingest.spans import TRACE

SPAN = "00f067aa0ba902b7"


def request(**fields: object) -> ExportTraceServiceRequest:
    sent = ExportTraceServiceRequest()
    group = sent.resource_spans.add()
    group.resource.attributes.add(key="service.name").value.string_value = "library"
    scoped = group.scope_spans.add()
    scoped.scope.name = "tests"
    one = scoped.spans.add(
        trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(SPAN), name="step", start_time_unix_nano=5
    )
    for name, value in fields.items():
        setattr(one, name, value)
    return sent


def as_json(*, trace_id: str = TRACE, **fields: object) -> bytes:
    one = {"traceId": trace_id, "spanId": SPAN, "name": "step", **fields}
    scoped = {"scope": {"name": "tests"}, "spans": [one]}
    return json.dumps({"resourceSpans": [{"resource": {}, "scopeSpans": [scoped], "new": 1}]}).encode()


def test_protobuf_is_read_with_all_kinds_of_values() -> None:
    sent = request(end_time_unix_nano=2**64 - 1, dropped_attributes_count=3)
    one = sent.resource_spans[0].scope_spans[0].spans[0]
    one.status.code = 2
    one.status.message = "broken"
    one.attributes.add(key="text").value.string_value = "a\0b"
    one.attributes.add(key="number").value.int_value = 2**62
    one.attributes.add(key="bytes").value.bytes_value = b"\xff"
    one.attributes.add(key="infinite").value.double_value = float("inf")
    one.attributes.add(key="list").value.array_value.values.add().bool_value = True
    one.attributes.add(key="object").value.kvlist_value.values.add(key="x").value.double_value = 0.5
    one.attributes.add(key="nothing")
    [span] = read_request(sent.SerializeToString(), logs=False, json=False).spans
    assert (span.trace_id, span.span_id, span.parent_id, span.scope) == (TRACE, SPAN, None, "tests")
    assert (span.started, span.ended, span.failed, span.problem) == (5, 2**64 - 1, True, "broken")
    assert span.attributes == {
        "text": "a\ufffdb", "number": 2**62, "bytes": "/w==", "infinite": None, "list": [True], "object": {"x": 0.5},
        "nothing": None,
    }  # fmt: skip
    assert span.resource == {"service.name": "library"}
    assert span.dropped_attributes == 3


@pytest.mark.parametrize("in_json", [False, True])
def test_what_all_spans_of_a_group_share_is_kept_with_each_only_as_far_as_it_is_read(*, in_json: bool) -> None:
    long = "x" * 100_000
    sent = request()
    group = sent.resource_spans[0]
    group.resource.attributes.add(key="process.command_args").value.string_value = long
    group.resource.attributes.add(key="deployment.environment.name").value.string_value = long
    group.scope_spans[0].scope.name = long
    body = sent.SerializeToString()
    if in_json:
        pairs = [{"key": a.key, "value": {"stringValue": a.value.string_value}} for a in group.resource.attributes]
        scoped = {"scope": {"name": long}, "spans": [{"traceId": TRACE, "spanId": SPAN}]}
        body = json.dumps({"resourceSpans": [{"resource": {"attributes": pairs}, "scopeSpans": [scoped]}]}).encode()
    [span] = read_request(body, logs=False, json=in_json).spans
    assert span.resource == {"service.name": "library", "deployment.environment.name": "x" * MAX_SHARED_CHARS}
    assert span.scope == "x" * MAX_SHARED_CHARS


@pytest.mark.parametrize("number", [7, "7", 7.0])
def test_json_may_write_numbers_of_64_bits_as_text(number: object) -> None:
    body = as_json(startTimeUnixNano=number, attributes=[{"key": "n", "value": {"intValue": number}}])
    [span] = read_request(body, logs=False, json=True).spans
    assert (span.started, span.attributes) == (7, {"n": 7})


@pytest.mark.parametrize("code", [2, "STATUS_CODE_ERROR"])
def test_json_may_write_enums_as_numbers_or_names_and_unknown_fields_are_ignored(code: object) -> None:
    body = as_json(status={"code": code}, kind="SPAN_KIND_SERVER", somethingNew={"a": 1}, parentSpanId="")
    [span] = read_request(body, logs=False, json=True).spans
    assert span.failed
    assert span.parent_id is None


def test_json_may_write_ids_in_capitals_and_names_of_fields_as_protobuf_has_them() -> None:
    one = {"trace_id": TRACE.upper(), "span_id": SPAN.upper(), "start_time_unix_nano": "1"}
    body = json.dumps({"resource_spans": [{"scope_spans": [{"spans": [one]}]}]}).encode()
    [span] = read_request(body, logs=False, json=True).spans
    assert (span.trace_id, span.span_id, span.started) == (TRACE, SPAN, 1)


def test_log_records_belong_to_a_span_and_others_are_passed_over() -> None:
    sent = ExportLogsServiceRequest()
    scoped = sent.resource_logs.add().scope_logs.add()
    record = scoped.log_records.add(trace_id=bytes.fromhex(TRACE), span_id=bytes.fromhex(SPAN), time_unix_nano=9)
    record.event_name = "gen_ai.user.message"
    record.body.kvlist_value.values.add(key="content").value.string_value = "Good morning"
    scoped.log_records.add().body.string_value = "of no span"
    read = read_request(sent.SerializeToString(), logs=True, json=False)
    [found] = read.logs
    assert (found.name, found.at, found.body) == ("gen_ai.user.message", 9, {"content": "Good morning"})
    assert read.rejected == 0


def test_which_request_it_is_is_told_by_its_fields() -> None:
    logs = ExportLogsServiceRequest()
    record = logs.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=9, event_name="e")
    record.trace_id, record.span_id = bytes.fromhex(TRACE), bytes.fromhex(SPAN)
    assert read_protobuf(logs.SerializeToString()).logs
    assert read_protobuf(request().SerializeToString()).spans
    one = {"traceId": TRACE, "spanId": SPAN, "eventName": "e", "body": {"stringValue": "b"}}
    assert read_object({"resourceLogs": [{"scopeLogs": [{"logRecords": [one]}]}]}).logs
    assert read_object(json.loads(as_json())).spans
    one = {"trace_id": TRACE, "span_id": SPAN, "event_name": "e"}
    assert read_object({"resource_logs": [{"scope_logs": [{"log_records": [one]}]}]}).logs


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (b"", "$"),
        (b"[]", "$"),
        (b"{}", "resourceSpans"),
        (b'{"resourceSpans": 1}', "resourceSpans"),
        (b'{"resourceSpans": [{"scopeSpans": [{"spans": [7]}]}]}', "resourceSpans[0].scopeSpans[0].spans[0]"),
        (b"\xff\xfe", "$"),
        (b"[" * 100_000, "$"),
    ],
)
def test_a_body_that_is_no_request_is_refused_with_the_path(body: bytes, path: str) -> None:
    with pytest.raises(InvalidMessage) as raised:
        read_request(body, logs=False, json=True)
    assert raised.value.path == path


def test_bytes_that_are_no_protobuf_are_refused() -> None:
    for logs in (False, True):
        with pytest.raises(InvalidMessage, match="is no Export"):
            read_request(b"\x0a\xff\xff", logs=logs, json=False)


def nested(levels: int) -> object:
    value: object = {"intValue": 1}
    for _ in range(levels):
        value = {"arrayValue": {"values": [value]}}
    return value


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"spanId": "0000000000000000"}, "span id"),
        ({"trace_id": "12"}, "trace id"),
        ({"startTimeUnixNano": "-1"}, "startTimeUnixNano"),
        ({"endTimeUnixNano": 2**64}, "endTimeUnixNano"),
        ({"attributes": [{"key": str(n), "value": {}} for n in range(MAX_ATTRIBUTES + 1)]}, "attributes"),
        ({"attributes": [{"key": "deep", "value": nested(MAX_DEPTH + 1)}]}, "levels"),
        ({"attributes": 5}, "attributes"),
        ({"events": 5}, "events: must be a list"),
        ({"events": [{}, 5]}, "events[1]: must be an object"),
    ],
)
def test_a_span_that_is_wrong_alone_is_left_out_and_counted(fields: dict[str, object], problem: str) -> None:
    read = read_request(as_json(**fields), logs=False, json=True)  # type: ignore[arg-type]
    assert (read.spans, read.rejected) == ((), 1)
    assert problem in read.problem


def test_protobuf_with_too_many_or_too_deep_attributes_is_left_out_alone() -> None:
    sent = request()
    group = sent.resource_spans[0].scope_spans[0]
    group.spans[0].attributes.extend([group.spans[0].attributes.add(key="a")] * MAX_ATTRIBUTES)
    deep = group.spans.add(trace_id=bytes.fromhex(TRACE), span_id=b"12345678").attributes.add(key="deep").value
    for _ in range(MAX_DEPTH + 1):
        deep = deep.array_value.values.add()
    group.spans.add(trace_id=bytes.fromhex(TRACE), span_id=b"87654321")
    read = read_request(sent.SerializeToString(), logs=False, json=False)
    assert ([s.span_id for s in read.spans], read.rejected) == ([b"87654321".hex()], 2)
