"""A receiver of traces over OTLP/HTTP on 127.0.0.1."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.servers.webhook import HttpServer, http_server


class TraceReceiver:
    """`url` is what the endpoint's setting names."""

    def __init__(self, server: HttpServer) -> None:
        self.server = server
        self.url = server.url

    @property
    def bodies(self) -> list[bytes]:
        return [
            gzip.decompress(each.body) if each.headers.get("content-encoding") == "gzip" else each.body
            for each in self.server.requests
        ]

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for body in self.bodies]

    @property
    def spans(self) -> list[Span]:
        """All that came, in the order in which they began."""
        found = [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        return sorted(found, key=lambda span: span.start_time_unix_nano)

    @property
    def resource(self) -> dict[str, Any]:
        return attributes(self.requests[0].resource_spans[0].resource.attributes)


def attributes(pairs: Any) -> dict[str, Any]:
    """Attributes as plain values."""
    return {pair.key: _value(pair.value) for pair in pairs if isinstance(pair, KeyValue)}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return None if kind is None else getattr(value, kind)


@contextmanager
def trace_receiver() -> Iterator[TraceReceiver]:
    with http_server() as server:
        yield TraceReceiver(server)
