"""The paths over HTTP, as the specification of OTLP and docs/start/send.md have them."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from backports import zstd
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from starlette.testclient import TestClient

from monitor.core.errors import Overloaded, Retriable
from monitor.core.settings.collect import CollectSettings
from monitor.simulate.fakes.intake import MemoryIntake
from monitor.web.collect.door import Door
from monitor.web.collect.http import CollectApp
from monitor.web.collect.senders import Senders
from tests.rig.web.door import NOW, MadeUpTokens, a_token

PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
EVENT = {"id": "1", "question": "Where?", "answer": "Here.", "retrieved_documents": []}
BINARY = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/bot%20%C3%A9", "ce-type": "answer"}


class Site:
    """The door in this process, over an intake in memory."""

    def __init__(self, tokens=(), *, only_tokens=False, **settings):
        self.intake, self.tokens, self.moment = MemoryIntake(max_spans=3), MadeUpTokens(dict(tokens)), 0.0
        senders = Senders(self.tokens, lambda: NOW, only_tokens=only_tokens, clock=lambda: self.moment)
        self.door = Door(self.intake, senders, CollectSettings(**settings), lambda: NOW, clock=lambda: self.moment)
        self.app = CollectApp(self.door)
        self.client = TestClient(self.app, base_url="http://127.0.0.1:4318")

    def post(self, path, body, headers=JSON, **more):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.post(f"/v1/{path}", content=content, headers=headers | more)


@pytest.fixture
def site():
    made = []

    def make(*args, **settings):
        made.append(Site(*args, **settings))
        return made[-1]

    yield make
    for one in made:
        one.client.close()
        one.app.close()


def a_request(*span_ids):
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    for span_id in span_ids or (b"\1" * 8,):
        spans.add(trace_id=b"\2" * 16, span_id=span_id, name="answer")
    return request.SerializeToString()


def test_full_success_leaves_partial_success_unset(site):
    site = site()
    reply = site.post("traces", a_request(), PROTOBUF)
    assert (reply.status_code, reply.headers["content-type"], reply.content) == (200, "application/x-protobuf", b"")
    assert [span.name for span in site.intake.collected[0].spans] == ["answer"]
    reply = site.post("traces", {"resourceSpans": []})
    assert (reply.status_code, reply.headers["content-type"], reply.json()) == (200, "application/json", {})
    assert site.post("logs", {}).json() == {}
    assert site.post("traces", b"", PROTOBUF).status_code == 200, "an empty request is a success"


def test_partial_success_names_what_was_rejected(site):
    site = site()
    reply = site.post("traces", a_request(b"\1" * 8, b"short"), PROTOBUF)
    partial = ExportTraceServiceResponse.FromString(reply.content).partial_success
    assert (reply.status_code, partial.rejected_spans) == (200, 1)
    assert "span" in partial.error_message
    reply = site.post("traces", a_request(*(bytes([n]) * 8 for n in range(1, 6))), PROTOBUF)
    partial = ExportTraceServiceResponse.FromString(reply.content).partial_success
    assert (partial.rejected_spans, partial.error_message) == (2, "their trace has reached its limits")


def test_partial_success_of_logs_and_in_json(site):
    site = site()
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.add(trace_id=b"\1" * 16, span_id=b"short")
    reply = site.post("logs", request.SerializeToString(), PROTOBUF)
    assert ExportLogsServiceResponse.FromString(reply.content).partial_success.rejected_log_records == 1
    span = {"traceId": "0a" * 16, "spanId": "zz", "name": "x"}
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    partial = site.post("traces", body).json()["partialSuccess"]
    assert partial["rejectedSpans"] == "1"
    assert partial["errorMessage"]


@pytest.mark.parametrize("as_json", [True, False])
def test_a_request_of_countless_empty_spans_is_refused_at_once(site, as_json):
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    if as_json:
        reply = site().post("traces", {"resourceSpans": [{"scopeSpans": [{"spans": [{}] * 100_001}]}]})
    else:
        spans.extend([SpanMessage()] * 100_001)
        reply = site().post("traces", request.SerializeToString(), PROTOBUF)
    assert reply.status_code == 400
    assert b"has more than 100,000 spans or log records" in reply.content


def test_a_body_that_is_no_request_is_never_to_be_sent_again(site):
    reply = site().post("traces", b"no protobuf", PROTOBUF)
    status = Status.FromString(reply.content)
    assert (reply.status_code, status.code, "retry-after" in reply.headers) == (400, 3, False)
    assert "is no ExportTraceServiceRequest" in status.message


@pytest.mark.parametrize(
    ("trouble", "seconds"), [(Overloaded("too many traces are open", 7.2), "8"), (Retriable("host db is down"), "5")]
)
def test_trouble_of_the_intake_is_to_be_tried_again(site, trouble, seconds):
    site = site()
    site.intake.trouble = trouble
    reply = site.post("traces", a_request(), PROTOBUF)
    status, retry = Status.FromString(reply.content), RetryInfo()
    assert (reply.status_code, reply.headers["retry-after"], status.code) == (503, seconds, 14)
    assert status.details[0].Unpack(retry)
    assert retry.retry_delay.seconds == int(seconds)
    assert "db" not in status.message
    assert site.post("traces", {"resourceSpans": []}).status_code == 200, "nothing to keep"
    reply = site.post("interactions", EVENT)
    assert (reply.status_code, reply.headers["retry-after"]) == (503, seconds)


@pytest.mark.parametrize(
    ("method", "path", "headers", "code"),
    [
        ("GET", "traces", {}, 405),
        ("POST", "metrics", PROTOBUF, 404),
        ("POST", "elsewhere", JSON, 404),
        ("POST", "traces", {"content-type": "text/plain"}, 415),
        ("POST", "traces", {}, 415),
        ("POST", "traces", PROTOBUF | {"content-encoding": "br"}, 415),
        ("POST", "interactions", {"content-type": "text/plain"}, 415),
        ("OPTIONS", "interactions", {"origin": "https://example.org", "access-control-request-method": "POST"}, 405),
    ],
)
def test_what_is_not_taken(site, method, path, headers, code):
    reply = site().client.request(method, f"/v1/{path}", headers=headers)
    assert reply.status_code == code
    assert "access-control-allow-origin" not in reply.headers
    assert reply.content


@pytest.mark.parametrize(
    ("encoding", "compress"), [("gzip", gzip.compress), ("zstd", zstd.compress), ("deflate", zlib.compress)]
)
def test_compressed_bodies_and_bombs(site, encoding, compress):
    site = site(max_body_bytes=100_000)
    reply = site.post("interactions", compress(json.dumps(EVENT).encode()), **{"content-encoding": encoding})
    assert reply.status_code == 202
    bomb = compress(bytes(1_000_000))
    assert site.post("interactions", bomb, **{"content-encoding": encoding}).status_code == 413
    assert site.post("interactions", bomb[:-9], **{"content-encoding": encoding}).status_code in {400, 413}
    assert site.post("interactions", b"something else", **{"content-encoding": encoding}).status_code == 400
    assert site.post("traces", b"\0" * 100_001, PROTOBUF).status_code == 413


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (json.dumps(EVENT).encode(), JSON),
        (b" \n[" + json.dumps(EVENT).encode() + b" ] ", JSON),
        (json.dumps(EVENT).encode() + b"\n\n", {"content-type": "application/x-ndjson; charset=utf-8"}),
        (
            json.dumps({"specversion": "1.0", "id": "1", "source": "/bot", "type": "answer", "data": EVENT}).encode(),
            {"content-type": "application/cloudevents+json"},
        ),
        (
            json.dumps([{"specversion": "1.0", "id": "1", "source": "/bot", "type": "a", "data": EVENT}]).encode(),
            {"content-type": "application/cloudevents-batch+json"},
        ),
        (json.dumps(EVENT).encode(), JSON | BINARY),
    ],
)
def test_every_form_of_an_event(site, body, headers):
    site = site({"mon_x": a_token(app="support-bot")})
    reply = site.post("interactions", body, headers, authorization="Bearer mon_x")
    assert (reply.status_code, reply.json()) == (202, {"accepted": 1, "rejected": []})
    ((message, app),) = site.intake.messages
    assert app == "support-bot"
    assert b"Where?" in message.value
    kept = dict(message.headers)
    assert "authorization" not in kept
    assert not kept or kept in (
        {"content-type": b"application/cloudevents+json"},
        {"ce-specversion": b"1.0", "ce-id": b"1", "ce-source": "/bot é".encode(), "ce-type": b"answer"},
    )


def test_readable_events_are_kept_and_the_others_named(site):
    site = site()
    reply = site.post("interactions", [EVENT, EVENT | {"question": 7}, "text", EVENT | {"id": "2"}])
    assert reply.status_code == 202
    assert reply.json() == {
        "accepted": 2,
        "rejected": [
            {"index": 1, "path": "question", "problem": "must be a string, got a number"},
            {"index": 2, "path": "$", "problem": "must be a JSON object, got a string"},
        ],
    }
    reply = site.post("interactions", [EVENT | {"answer": None}])
    assert (reply.status_code, reply.headers["content-type"]) == (400, "application/problem+json")
    assert (reply.json()["accepted"], len(reply.json()["rejected"])) == (0, 1)
    assert site.post("interactions", []).json() == {"accepted": 0, "rejected": []}


@pytest.mark.parametrize("body", [b"[", b"[{}", b"[{} {}]", b"[{}] x", b"[{},]", b"[" * 100_000, b"[\xff]", b"{", b""])
def test_bodies_that_are_no_events(site, body):
    site = site()
    assert site.post("interactions", body).status_code == 400
    assert not site.intake.messages


def test_more_events_than_the_limit(site):
    assert site(max_events=2).post("interactions", [EVENT] * 3).status_code == 413


def test_without_tokens_only_this_machine_may_send(site):
    here = site()
    assert here.post("interactions", EVENT).status_code == 202
    assert here.post("interactions", EVENT, host="bot.example.org").status_code == 403
    assert here.post("interactions", EVENT, **{"x-forwarded-for": "192.0.2.1"}).status_code == 403
    assert here.post("interactions", EVENT, authorization="Bearer mon_wrong").status_code == 401
    assert site(only_tokens=True).post("interactions", EVENT).status_code == 401


def test_tokens(site):
    site = site({"mon_x": a_token(), "mon_viewer": a_token("viewer"), "mon_admin": a_token("admin")})
    status = {}
    for secret in ("mon_x", "mon_viewer", "mon_admin", "mon_wrong"):
        status[secret] = site.post("traces", a_request(), PROTOBUF, authorization=f"Bearer {secret}").status_code
    assert status == {"mon_x": 200, "mon_viewer": 403, "mon_admin": 200, "mon_wrong": 401}
    reply = site.post("traces", a_request(), PROTOBUF)
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert Status.FromString(reply.content).code == 16


def test_a_sender_that_sends_too_much_waits_and_others_do_not(site):
    site = site({"mon_x": a_token(), "mon_y": a_token(id="t2")}, bytes_per_second=4_096)
    codes = [site.post("interactions", EVENT, authorization="Bearer mon_x").status_code for _ in range(11)]
    assert codes == [202] * 10 + [429]
    reply = site.post("interactions", EVENT, authorization="Bearer mon_x")
    assert reply.headers["retry-after"] == "1"
    assert site.post("interactions", EVENT, authorization="Bearer mon_y").status_code == 202
    site.moment += 1
    assert site.post("interactions", EVENT, authorization="Bearer mon_x").status_code == 202


def test_what_is_under_way_is_bounded(site):
    full, small = site(max_requests=1), site(max_request_bytes=10)
    with full.door.admission.place():
        reply = full.post("traces", a_request(), PROTOBUF)
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
    assert full.post("traces", a_request(), PROTOBUF).status_code == 200
    assert small.post("traces", a_request(), PROTOBUF).status_code == 503
    full.door.admission.close()
    assert full.post("traces", a_request(), PROTOBUF).status_code == 503


def test_a_defect_is_logged_and_named(site, caplog):
    site = site()
    site.intake.trouble = ZeroDivisionError("a defect")
    reply = site.post("traces", a_request(), PROTOBUF)
    assert (reply.status_code, Status.FromString(reply.content).code) == (500, 13)
    assert "a defect" in caplog.text
