"""Traces of the stages, as a receiver of OTLP gets them: links, parents, attributes, and none of a chatbot's text."""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing import Pipe
from threading import Thread

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from monitor.app.background.sealer_process import _seal
from monitor.app.flow import Flow
from monitor.app.tracing.export import ToldOnce
from monitor.app.wiring.application import Application
from monitor.app.wiring.tracing import traced
from monitor.core.errors import Fatal, WrongSettings
from monitor.core.retry import Retry
from monitor.core.settings.load import Settings
from monitor.core.settings.tracing import TracingSettings
from monitor.core.stage import stage
from monitor.ingest.decode import Decoded
from monitor.simulate.fakes.flow import MemoryStore
from tests.factories.answers import a_dead_letter, an_assessment, an_interaction
from tests.integration.app.test_flow import Impatient, ListSource
from tests.servers.otlp import attributes, trace_receiver

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
MARKER = "The marker that no trace may show"


class TracedSource(ListSource):
    """Its first message names the span of its producer, its second one something malformed."""

    def __init__(self, messages):
        super().__init__(messages)
        parents = [f"00-{TRACE}-{SPAN}-01".encode(), b"\xff-nonsense"]
        for place, parent in enumerate(parents):
            self._left[place] = replace(self._left[place], headers=(("traceparent", parent),))


def decode(messages):
    return Decoded(
        [an_interaction(id=f"q-{m.value.decode()}", question=MARKER, answer=MARKER) for m in messages[1:]],
        [a_dead_letter(MARKER.encode())],
        [],
    )


def assess(interactions):
    with stage("complete"), stage("chat", model="gpt-test", server="llm.example", purpose="sidecar") as chat:
        chat.add(input_tokens=12, output_tokens=3, answer=MARKER)  # `answer` is no attribute that a trace knows
    with stage("score"):
        return [an_assessment(interaction=it) for it in interactions]


def flow(source, store, **over):
    stop = Impatient()
    return Flow(
        source=source,
        store=store,
        stop=stop,
        retry=Retry(stop=stop, patience=None),
        written=lambda *_: None,
        batch_messages=10,
        batch_bytes=2**20,
        poll_seconds=0.01,
        **{"decode": decode, "assess": assess, **over},
    )


def settings(url: str, **over: object) -> TracingSettings:
    return TracingSettings.model_validate({"endpoint": url, **over})


def test_a_batch_is_one_trace_that_links_to_its_producers_and_holds_its_stages():
    with trace_receiver() as receiver:
        with traced(settings(receiver.url, headers="authorization=Bearer%20key", service="rag")):
            flow(TracedSource(4), MemoryStore()).run()
        spans = {span.name: span for span in receiver.spans}
        assert receiver.resource["service.name"] == "rag"
        assert receiver.server.requests[0].path == "/v1/traces"
        assert receiver.server.requests[0].headers["authorization"] == "Bearer key"
        assert all(MARKER.encode() not in body for body in receiver.bodies)

    process = spans["process answers.jsonl"]
    assert set(spans) == {process.name, "decode", "assess", "complete", "chat gpt-test", "score", "store"}
    assert {span.trace_id for span in spans.values()} == {process.trace_id}
    assert {name: span.parent_span_id for name, span in spans.items()} == {
        process.name: b"",
        "decode": process.span_id,
        "assess": process.span_id,
        "complete": spans["assess"].span_id,
        "chat gpt-test": spans["complete"].span_id,
        "score": spans["assess"].span_id,
        "store": process.span_id,
    }
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in process.links] == [(TRACE, SPAN)]
    assert process.kind == Span.SPAN_KIND_CONSUMER
    told = attributes(process.attributes)
    assert told["messaging.operation.type"] == "process"
    assert told["messaging.destination.name"] == "answers.jsonl"
    assert told["messaging.destination.partition.id"] == "0"
    assert told["messaging.batch.message_count"] == 4
    assert told["monitor.apps"] == ["support-bot"]
    assert told["monitor.interaction.ids"] == ["q-1", "q-2", "q-3"]
    assert told["monitor.verdict.grounded"] == told["monitor.ledger.assessed"] == 3
    assert told["monitor.ledger.dead"] == 1
    assert attributes(spans["chat gpt-test"].attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-test",
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "server.address": "llm.example",
        "monitor.llm.purpose": "sidecar",
    }
    assert attributes(spans["store"].attributes)["db.system.name"] == "postgresql"
    assert spans["store"].kind == Span.SPAN_KIND_CLIENT


def test_an_error_is_a_status_and_a_type_without_its_text():
    def refuses(_):
        with stage("score"):
            raise Fatal(MARKER)

    with trace_receiver() as receiver:
        with traced(settings(receiver.url)), pytest.raises(Fatal):
            flow(TracedSource(4), MemoryStore(), assess=refuses).run()
        spans = {span.name: span for span in receiver.spans}
        assert all(MARKER.encode() not in body for body in receiver.bodies)
    for name in ("score", "assess", "process answers.jsonl"):
        assert spans[name].status == Status(code=Status.STATUS_CODE_ERROR)
        assert attributes(spans[name].attributes)["error.type"] == "Fatal"
        assert not spans[name].events
    assert spans["decode"].status == Status()


def test_the_process_that_seals_sends_its_own_traces(database, tmp_path):
    ours, theirs = Pipe()
    ours.close()  # so that it seals once more, and ends
    with trace_receiver() as receiver, theirs:
        settings = Settings(database_url=database, state_dir=tmp_path, tracing={"endpoint": receiver.url})
        with Application(settings) as application:
            application.migrate()
        _seal(settings, theirs)
        [sealing] = [span for span in receiver.spans if span.name == "seal"]
    assert attributes(sealing.attributes)["monitor.audit.leaves"] >= 0


def test_a_share_of_no_traces_sends_none():
    with trace_receiver() as receiver:
        with traced(settings(receiver.url, sample=0)):
            flow(TracedSource(4), MemoryStore()).run()
        assert receiver.spans == []


def test_a_receiver_that_is_gone_is_told_of_once_and_events_go_on(caplog):
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with traced(settings(f"http://127.0.0.1:{port}")):
        assert flow(TracedSource(40), MemoryStore()).run().received == 40
    [told] = [r.getMessage() for r in caplog.records if r.name.startswith(("monitor", "opentelemetry"))]
    assert told.startswith(f"traces are dropped until 127.0.0.1:{port} takes them; events go on (")
    assert "refused" in told


def test_a_receiver_that_is_elsewhere_is_no_success(caplog):
    class Elsewhere(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(308)
            self.send_header("Location", "https://traces.example/v1/traces")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            with traced(settings(f"http://127.0.0.1:{server.server_port}")):
                flow(TracedSource(4), MemoryStore()).run()
        finally:
            server.shutdown()
            thread.join()
    [told] = [record.getMessage() for record in caplog.records if "traces are dropped" in record.getMessage()]
    assert "308, it is at https://traces.example/v1/traces" in told


def test_the_warning_comes_once_and_so_does_the_news_that_all_is_well_again(caplog):
    outcomes = [SpanExportResult.FAILURE, SpanExportResult.FAILURE, SpanExportResult.SUCCESS, SpanExportResult.SUCCESS]

    class Fickle(SpanExporter):
        def export(self, spans):
            return outcomes.pop(0)

    exporter = ToldOnce(Fickle(), "traces.example:4318", lambda: "503 busy")
    for _ in range(len(outcomes)):
        exporter.export(())
    assert [r.getMessage() for r in caplog.records] == [
        "traces are dropped until traces.example:4318 takes them; events go on (503 busy)",
        "traces are taken again by traces.example:4318",
    ]


def test_a_receiver_that_never_answers_holds_up_neither_events_nor_the_end():
    with socket.create_server(("127.0.0.1", 0)) as silent:  # its backlog takes the connection, and nobody reads it
        with traced(settings(f"http://127.0.0.1:{silent.getsockname()[1]}")):
            assert flow(TracedSource(40), MemoryStore()).run().received == 40
        connection, _ = silent.accept()
        connection.close()


def test_without_the_packages_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http", None)
    with pytest.raises(WrongSettings, match=r"pip install 'rag-monitor\[otel\]'"), traced(settings("http://localhost")):
        pass


def test_headers_of_another_form_are_refused():
    malformed = settings("http://localhost", headers="secret")
    with pytest.raises(WrongSettings, match="MONITOR_TRACING__HEADERS must be name=value"), traced(malformed):
        pass
