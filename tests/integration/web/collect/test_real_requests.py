"""What instrumented chatbots really sent, through both transports: it arrives as it is read from the files."""

from __future__ import annotations

import gzip
import json

import grpc
import httpx2
import pytest

from monitor.ingest.traces.otlp import read_request
from tests.rig.recorded import traces

METHODS = {
    "/v1/traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
    "/v1/logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
}


@pytest.fixture(scope="module")
def requests():
    """Path, content type and body of every request."""
    folder = traces()
    found = []
    for case in sorted(folder.glob("*.expected.json")):
        for request in json.loads(case.read_bytes())["requests"]:
            body = (folder / request["file"]).read_bytes()
            found.append((request["path"], request["content_type"].partition(";")[0], body))
    return found


def test_over_http_with_gzip(door, requests):
    with httpx2.Client(base_url=door.http, trust_env=False) as client:
        for path, content_type, body in requests:
            headers = {"content-type": content_type, "content-encoding": "gzip"}
            reply = client.post(path, content=gzip.compress(body, 1), headers=headers)
            assert (reply.status_code, reply.headers["content-type"]) == (200, content_type)
            assert reply.content == (b"{}" if content_type == "application/json" else b"")
    expected = [read_request(body, logs=path == "/v1/logs", json="json" in kind) for path, kind, body in requests]
    kept = [(collected.spans, collected.logs) for collected in door.intake.collected]
    assert kept == [(read.spans, read.logs) for read in expected if read.spans or read.logs]


def test_over_grpc(door, requests):
    sent = [(path, body) for path, content_type, body in requests if content_type != "application/json"]
    with grpc.insecure_channel(door.grpc) as channel:
        for path, body in sent:
            assert channel.unary_unary(METHODS[path])(body) == b""
    expected = [read_request(body, logs=path == "/v1/logs", json=False) for path, body in sent]
    kept = [(collected.spans, collected.logs) for collected in door.intake.collected]
    assert kept == [(read.spans, read.logs) for read in expected if read.spans or read.logs]
