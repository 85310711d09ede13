"""Refusals over gRPC, as the specification of OTLP has them."""

from __future__ import annotations

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from monitor.core.errors import Overloaded
from tests.rig.web.door import MadeUpTokens, a_door, a_token

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"


@pytest.fixture(scope="module")
def channel(shared_door):
    with grpc.insecure_channel(shared_door.grpc, options=[("grpc.max_send_message_length", -1)]) as channel:
        yield channel


def refusal(channel, method, body, **call):
    """The code of a refusal, and its status."""
    with pytest.raises(grpc.RpcError) as raised:
        channel.unary_unary(method)(body, **call)
    details = dict(raised.value.trailing_metadata()).get("grpc-status-details-bin", b"")
    return raised.value.code(), Status.FromString(details)


def a_request():
    request = ExportTraceServiceRequest()
    request.resource_spans.add().scope_spans.add().spans.add(trace_id=b"\1" * 16, span_id=b"\2" * 8)
    return request.SerializeToString()


def test_overload_says_when_to_try_again(door, channel):
    door.intake.trouble = Overloaded("too many traces are open", 7.2)
    code, status = refusal(channel, TRACES, a_request())
    retry = RetryInfo()
    assert (code, status.message) == (grpc.StatusCode.UNAVAILABLE, "too many traces are open")
    assert status.details[0].Unpack(retry)
    assert retry.retry_delay.seconds == 8


def test_what_is_never_to_be_sent_again(door, channel):
    code, status = refusal(channel, TRACES, b"no protobuf")
    assert (code, len(status.details)) == (grpc.StatusCode.INVALID_ARGUMENT, 0)
    assert refusal(channel, METRICS, b"")[0] is grpc.StatusCode.UNIMPLEMENTED
    assert refusal(channel, "/elsewhere/Export", b"")[0] is grpc.StatusCode.UNIMPLEMENTED
    bomb = refusal(channel, TRACES, bytes(22 * 2**20), compression=grpc.Compression.Gzip)
    assert (bomb[0], len(bomb[1].details)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, 0)
    assert not door.intake.collected


def test_a_defect_is_named(door, channel, caplog):
    door.intake.trouble = ZeroDivisionError("a defect")
    assert refusal(channel, TRACES, a_request())[0] is grpc.StatusCode.INTERNAL
    assert "a defect" in caplog.text


def test_tokens_and_the_allowance_of_each():
    tokens = MadeUpTokens({"mon_x": a_token(), "mon_viewer": a_token("viewer", id="t2")})
    with a_door(tokens=tokens, bytes_per_second=1) as door, grpc.insecure_channel(door.grpc) as channel:
        assert refusal(channel, TRACES, b"")[0] is grpc.StatusCode.UNAUTHENTICATED
        viewer = [("authorization", "Bearer mon_viewer")]
        assert refusal(channel, TRACES, b"", metadata=viewer)[0] is grpc.StatusCode.PERMISSION_DENIED
        sender = [("authorization", "Bearer mon_x")]
        assert channel.unary_unary(TRACES)(b"", metadata=sender) == b""
        code, status = refusal(channel, TRACES, b"", metadata=sender)
        assert (code, len(status.details)) == (grpc.StatusCode.RESOURCE_EXHAUSTED, 1)
