"""Where the server listens, and how: addresses, tokens and TLS."""

from __future__ import annotations

import json
import socket
import ssl
import urllib.request
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from threading import Event

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from monitor.core.errors import WrongSettings
from monitor.core.settings.collect import CollectSettings
from monitor.simulate.fakes.intake import MemoryIntake
from monitor.web.collect.server import collect_server
from tests.rig.web.door import NOW, MadeUpTokens, a_door

TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """The settings for TLS with a certificate for 127.0.0.1."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return {"tls_certificate": folder / "certificate.pem", "tls_key": folder / "key.pem"}


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
