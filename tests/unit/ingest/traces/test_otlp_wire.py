from __future__ import annotations

import random

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from monitor.core.errors import InvalidMessage
from monitor.ingest.traces.otlp_values import MAX_ITEMS
from monitor.ingest.traces.otlp_wire import check_count


def a_request(spans):
    request = ExportTraceServiceRequest()
    for _ in range(2):
        group = request.resource_spans.add(schema_url="https://example.org")
        group.resource.attributes.add(key="service.name").value.string_value = "bot" * 100
        scoped = group.scope_spans.add()
        scoped.scope.name = "tests"
        scoped.spans.extend([Span(name="call", start_time_unix_nano=1)] * (spans // 2))
    return request.SerializeToString()


def test_requests_up_to_the_limit_pass():
    check_count(b"")
    check_count(a_request(MAX_ITEMS - 10))
    with pytest.raises(InvalidMessage, match="more than 100,000"):
        check_count(a_request(MAX_ITEMS))


@pytest.mark.parametrize("field", [b"\x0a\x00", b"\x18\x01", b"\x32\x00"])  # empty groups, numbers, unknown messages
def test_other_fields_count_too(field):
    with pytest.raises(InvalidMessage, match="more than 100,000"):
        check_count(field * (MAX_ITEMS + 1))


def test_what_is_no_protobuf_is_left_to_the_parser():
    body, chance = a_request(20), random.Random(5)
    for _ in range(300):
        changed = bytearray(body)
        changed[chance.randrange(len(body))] = chance.randrange(256)
        check_count(bytes(changed))
        check_count(body[: chance.randrange(len(body))])
    check_count(b"\xff" * 100)
