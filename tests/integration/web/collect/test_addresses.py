"""Where the server listens, and how: addresses, tokens and TLS."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import urllib.request
from contextlib import closing
from threading import Event

import grpc
import pytest

from monitor.core.errors import WrongSettings
from monitor.core.settings.collect import CollectSettings
from monitor.simulate.fakes.intake import MemoryIntake
from monitor.web.collect.server import collect_server
from tests.rig.web.certificate import made_certificate
from tests.rig.web.door import NOW, MadeUpTokens, a_door

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """The settings for TLS with a certificate for 127.0.0.1."""
    certificate, key = made_certificate(tmp_path_factory.mktemp("tls"))
    return {"tls_certificate": certificate, "tls_key": key}


def refusal(**settings):
    with pytest.raises(WrongSettings) as raised:
        collect_server(MemoryIntake(), MadeUpTokens(), CollectSettings(**settings), now=lambda: NOW, stop=Event())
    return str(raised.value)


def test_tls_on_both_ports(tls):
    event = {"id": "1", "question": "q", "answer": "a", "retrieved_documents": []}
    with a_door(**tls) as door:
        address = f"{door.http.replace('http:', 'https:')}/v1/interactions"
        request = urllib.request.Request(address, json.dumps(event).encode(), {"content-type": "application/json"})
        context = ssl.create_default_context(cafile=tls["tls_certificate"])
        with urllib.request.urlopen(request, context=context) as response:
            assert response.status == 202
        credentials = grpc.ssl_channel_credentials(tls["tls_certificate"].read_bytes())
        with grpc.secure_channel(door.grpc, credentials) as channel:
            assert channel.unary_unary(TRACES)(b"") == b""


def test_a_connection_of_tls_that_waits_does_not_hold_up_the_end(tls):
    with a_door(**tls) as door:
        host = door.http.removeprefix("http://")
        context = ssl.create_default_context(cafile=tls["tls_certificate"])
        with closing(http.client.HTTPSConnection(host, context=context)) as connection:
            connection.request("GET", "/v1/traces")
            assert connection.getresponse().read()
            door.stop.set()
            door.thread.join(6.0)
            assert not door.thread.is_alive()


def test_addresses_and_files_that_cannot_be_used(tls):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"MONITOR_COLLECT__HOST, …__PORT: cannot listen at 127.0.0.1:{port}: Address" in refusal(port=port)
        assert f"cannot listen at 127.0.0.1:{port}" in refusal(port=0, grpc_port=port)
    nowhere = tls["tls_key"].with_name("nowhere.pem")
    assert refusal(port=0, grpc_port=None, tls_certificate=nowhere, tls_key=nowhere).startswith(
        "MONITOR_COLLECT__TLS_…"
    )


def test_other_machines_are_let_in_only_with_tokens():
    assert "monitor tokens create NAME --role collect --app APP" in refusal(host="0.0.0.0")
