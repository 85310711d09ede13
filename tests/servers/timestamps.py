"""Scripted: a time stamp authority (RFC 3161), which answers by `openssl ts`, and a calendar of OpenTimestamps."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.servers.webhook import BROKEN, Answer, HttpServer, Request, http_server

_CONFIG = """
[tsa]
default_tsa = scripted
[scripted]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
signer_key = {folder}/tsa.key
certs = {folder}/tsa.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
"""
BLOCK = 800_000
_PENDING, _BITCOIN = bytes.fromhex("83dfe30d2ef90c8e"), bytes.fromhex("0588960d73d71901")


@dataclass(frozen=True)
class ScriptedAuthority:
    """Signs with a certificate of its own, below the root in `ca`."""

    folder: Path

    @property
    def ca(self) -> Path:
        return self.folder / "ca.pem"

    def respond(self, request: Request) -> Answer:
        if request.headers["content-type"] != "application/timestamp-query":
            return Answer(status=415)
        return Answer(body=self.answer(request.body), headers={"Content-Type": "application/timestamp-reply"})

    def answer(self, query: bytes) -> bytes:
        (self.folder / "query").write_bytes(query)
        names = ["-config", "conf", "-section", "scripted", "-queryfile", "query", "-out", "reply"]
        subprocess.run(["openssl", "ts", "-reply", *names], cwd=self.folder, check=True, capture_output=True)
        return (self.folder / "reply").read_bytes()

    def stamp(self, content: bytes) -> bytes:
        """A time stamp of the content, without a nonce."""
        query = ["openssl", "ts", "-query", "-sha256", "-cert", "-data", "data"]
        (self.folder / "data").write_bytes(content)
        return self.answer(subprocess.run(query, cwd=self.folder, check=True, capture_output=True).stdout)


def an_authority(folder: Path) -> ScriptedAuthority:
    """Makes the keys and certificates of an authority."""
    root, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca = _certificate("Root", "Root", root, root, None)
    signer = _certificate("Scripted TSA", "Root", own, root, ExtendedKeyUsageOID.TIME_STAMPING)
    (folder / "ca.pem").write_bytes(ca.public_bytes(Encoding.PEM))
    (folder / "tsa.pem").write_bytes(signer.public_bytes(Encoding.PEM))
    (folder / "tsa.key").write_bytes(own.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (folder / "serial").write_text("01\n")
    (folder / "conf").write_text(_CONFIG.format(folder=folder))
    return ScriptedAuthority(folder)


def _certificate(subject, issuer, key, signing_key, usage):
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=10))
        .add_extension(x509.BasicConstraints(ca=usage is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()), critical=False)
    )
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=True)
    return builder.sign(signing_key, hashes.SHA256())


class ScriptedCalendar:
    """Promises at once; gives the block for a promise once `mined` is set, and an error where `broken` is."""

    def __init__(self) -> None:
        self.mined = self.broken = False

    def respond(self, request: Request) -> Answer:
        if request.path == "/digest":
            return Answer(body=b"\xf0\x04salt\x08" + _attested(_PENDING, b"\x14https://its.calendar"))
        if self.broken:
            return BROKEN
        commitment = bytes.fromhex(request.path.removeprefix("/timestamp/"))
        if not self.mined or len(commitment) != len(sha256().digest()):
            return Answer(status=404, body="Pending confirmation in Bitcoin blockchain")
        return Answer(body=b"\xf1\x04tree\x08\x08" + _attested(_BITCOIN, b"\x80\xea\x30"))


def _attested(kind: bytes, payload: bytes) -> bytes:
    """An attestation, whose payload begins with its length where it is a text."""
    return b"\0" + kind + bytes([len(payload)]) + payload


@contextmanager
def timestamp_server(authority: ScriptedAuthority) -> Iterator[HttpServer]:
    with http_server(authority.respond) as server:
        yield server


@contextmanager
def calendar_server(calendar: ScriptedCalendar) -> Iterator[HttpServer]:
    with http_server(calendar.respond) as server:
        yield server
