"""The descriptors that ship are the published ones, and their classes are at home beside those of other packages."""

from __future__ import annotations

import pytest
from google.protobuf.message_factory import GetMessageClass
from google.rpc import code_pb2, error_details_pb2, status_pb2
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.proto.logs.v1 import logs_pb2

from monitor.ingest.traces import otlp_messages
from monitor.web.collect.otlp import status
from monitor.web.collect.refusal import Refused
from tools.build_otlp import SHIPPED, descriptors

PUBLISHED = [
    logs_service_pb2.ExportLogsServiceRequest,
    logs_service_pb2.ExportLogsServiceResponse,
    trace_service_pb2.ExportTraceServiceRequest,
    trace_service_pb2.ExportTraceServiceResponse,
    status_pb2.Status,
    error_details_pb2.RetryInfo,
]


def test_what_ships_is_what_the_pinned_packages_hold():
    assert SHIPPED.read_bytes() == descriptors(), "to follow a newer release: python -m tools.build_otlp --write"


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda published: published.DESCRIPTOR.name)
def test_each_class_is_one_of_its_own_with_the_published_fields(published):
    ours = getattr(otlp_messages, published.DESCRIPTOR.name)
    assert ours is not published
    assert ours.DESCRIPTOR.full_name == published.DESCRIPTOR.full_name
    assert ours.DESCRIPTOR.fields_by_name.keys() == published.DESCRIPTOR.fields_by_name.keys()
    assert ours.DESCRIPTOR.file.pool is not published.DESCRIPTOR.file.pool


def test_the_numbers_of_enums_have_their_published_names():
    assert {one.name: one.value for one in otlp_messages.Code} == dict(code_pb2.Code.items())
    severities = {one.name: one.value for one in otlp_messages.SeverityNumber}
    assert severities == dict(logs_pb2.SeverityNumber.items())


def test_a_newer_sender_may_use_fields_that_are_not_known_yet():
    message = trace_service_pb2.ExportTraceServiceRequest()
    message.resource_spans.add().scope_spans.add().spans.add(name="step")
    newer = message.SerializeToString() + b"\xfa\x3f\x03new"  # field 1023, three bytes
    assert otlp_messages.ExportTraceServiceRequest.FromString(newer).SerializeToString() == newer


def test_a_pause_that_a_sender_is_asked_for_is_read_by_the_published_classes():
    refused = Refused(503, "busy", retry_after=2.5)
    read = status_pb2.Status.FromString(status(refused, as_json=False))
    pause = GetMessageClass(error_details_pb2.RetryInfo.DESCRIPTOR)()
    assert read.details[0].Unpack(pause)
    assert (read.code, pause.retry_delay.seconds) == (code_pb2.UNAVAILABLE, 3)
