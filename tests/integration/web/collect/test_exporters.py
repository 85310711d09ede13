"""The exporters of OpenTelemetry's own packages, against the real server."""

from __future__ import annotations

import http.client
import json
from contextlib import closing
from threading import Event, Timer

import grpc
import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from monitor.core.errors import Overloaded
from monitor.simulate.fakes.intake import MemoryIntake
from tests.rig.web.door import MadeUpTokens, a_door, a_token

EXPORTERS = {
    "http": lambda door: HttpExporter(f"{door.http}/v1/traces"),
    "grpc": lambda door: GrpcExporter(door.grpc, insecure=True),
}


class _Results(SpanExporter):
    """Remembers what an exporter said of each export."""

    def __init__(self, exporter):
        self._exporter = exporter
        self.results = []

    def export(self, spans):
        self.results.append(self._exporter.export(spans))
        return self.results[-1]

    def shutdown(self):
        self._exporter.shutdown()


def exported(exporter, name="answer"):
    """The result of exporting one span."""
    provider = TracerProvider(resource=Resource({"service.name": "support-bot"}), shutdown_on_exit=False)
    results = _Results(exporter)
    provider.add_span_processor(SimpleSpanProcessor(results))
    provider.get_tracer("tests").start_span(name, attributes={"input.value": "Where is my kettle?"}).end()
    provider.shutdown()
    return results.results


@pytest.mark.parametrize("compression", list(Compression))
def test_http_exporter(door, compression):
    assert exported(HttpExporter(f"{door.http}/v1/traces", compression=compression)) == [SpanExportResult.SUCCESS]
    (collected,) = door.intake.collected
    (span,) = collected.spans
    assert (span.name, span.resource["service.name"]) == ("answer", "support-bot")
    assert span.attributes == {"input.value": "Where is my kettle?"}
    assert collected.app is None


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_grpc_exporter(door, compression):
    assert exported(GrpcExporter(door.grpc, insecure=True, compression=compression)) == [SpanExportResult.SUCCESS]
    (collected,) = door.intake.collected
    assert [span.name for span in collected.spans] == ["answer"]


@pytest.mark.parametrize("transport", EXPORTERS)
def test_exporters_try_again_while_the_intake_is_overloaded(door, transport):
    door.intake.trouble = Overloaded("too many traces are open", 1)
    relief = Timer(0.5, lambda: setattr(door.intake, "trouble", None))
    relief.start()
    assert exported(EXPORTERS[transport](door)) == [SpanExportResult.SUCCESS]
    assert [len(c.spans) for c in door.intake.collected] == [1]
    relief.join()


def test_the_header_that_exporters_send_as_their_settings_say(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20mon_secret")
    with a_door(tokens=MadeUpTokens({"mon_secret": a_token(app="support-bot")})) as door:
        assert exported(HttpExporter(f"{door.http}/v1/traces")) == [SpanExportResult.SUCCESS]
        assert exported(GrpcExporter(door.grpc, insecure=True)) == [SpanExportResult.SUCCESS]
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20mon_wrong")
        assert exported(HttpExporter(f"{door.http}/v1/traces")) == [SpanExportResult.FAILURE]
        assert exported(GrpcExporter(door.grpc, insecure=True)) == [SpanExportResult.FAILURE]
    assert [collected.app for collected in door.intake.collected] == ["support-bot", "support-bot"]


class _SlowIntake(MemoryIntake):
    """Keeps events only when it is told to go on."""

    def __init__(self):
        super().__init__()
        self.reached, self.go_on = Event(), Event()

    def events(self, messages, *, app=None):
        self.reached.set()
        self.go_on.wait()
        return super().events(messages, app=app)


def test_a_request_under_way_is_answered_when_the_server_stops():
    event = json.dumps({"id": "1", "question": "q", "answer": "a", "retrieved_documents": []})
    intake = _SlowIntake()
    with a_door(intake) as door, closing(http.client.HTTPConnection(door.http.removeprefix("http://"))) as client:
        client.request("POST", "/v1/interactions", event, {"content-type": "application/json"})
        intake.reached.wait()
        door.stop.set()
        intake.go_on.set()
        response = client.getresponse()
        assert (response.status, json.loads(response.read())) == (202, {"accepted": 1, "rejected": []})
    assert len(intake.messages) == 1
