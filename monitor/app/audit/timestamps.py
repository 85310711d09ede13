"""Asks an authority that speaks RFC 3161 for time stamps."""

from __future__ import annotations

from pathlib import Path

from cryptography.x509 import Certificate, load_pem_x509_certificates
from rfc3161_client import (
    HashAlgorithm,
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)
from typing_extensions import override

from monitor.alert.receivers.http import Endpoint
from monitor.app.audit.stamper import Authority
from monitor.audit.note import NotProved
from monitor.audit.stamp import StampKind
from monitor.core.errors import Retriable, WrongSettings

_CA = "MONITOR_AUDIT__TIMESTAMP_CA"
_WITH_MODIFICATIONS = 1  # RFC 3161, 2.4.2


class TimestampAuthority(Authority):
    """A time stamp authority of RFC 3161. With the file of its root certificates, `check` knows its signature.

    Raises:
        WrongSettings: the URL is none, or the file holds no certificates.
    """

    kind = StampKind.TIMESTAMP

    def __init__(self, url: str, roots: Path | None = None) -> None:
        self._endpoint = Endpoint(url, name="the time stamp authority", setting="MONITOR_AUDIT__TIMESTAMP_URL")
        self._roots = [] if roots is None else _certificates(roots)
        self.name = self._endpoint.host
        self.trusted = bool(self._roots)

    @override
    def stamp(self, content: bytes) -> bytes:
        """The whole response of the authority, with its certificates.

        Raises:
            Retriable: it is out of reach, refuses, or answers with something else than was asked for.
            Fatal: it does not take requests at this address.
        """
        request = TimestampRequestBuilder().data(content).hash_algorithm(HashAlgorithm.SHA256).build()
        headers = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}
        answer = self._endpoint.post(request.as_bytes(), headers)
        if not answer.done:
            raise self._endpoint.judged(answer)
        response = _decoded(answer.body)
        if response is None:
            raise Retriable(f"{self.name} answers with something else than a time stamp")
        said = "; ".join(response.status_string) or "without a reason"
        if response.status == _WITH_MODIFICATIONS:  # no verifier accepts it
            raise Retriable(f"{self.name} stamps something else than was asked for, granted with modifications: {said}")
        if response.status != 0:
            raise Retriable(f"{self.name} refuses to stamp: {said}")
        if response.tst_info.nonce != request.nonce:
            raise Retriable(f"{self.name} gave an answer to another request")
        return answer.body

    @override
    def complete(self, token: bytes) -> bytes | None:
        return None

    @override
    def check(self, token: bytes, content: bytes) -> None:
        if not self._roots:
            return
        response = _decoded(token)
        try:
            if response is None:
                raise NotProved("it is malformed")
            verifier = VerifierBuilder(roots=list(self._roots)).build()
            verifier.verify_message(response, content)
        except (VerificationError, ValueError) as error:
            raise NotProved(f"no authority in {_CA} has signed it: {error}") from None


def _decoded(response: bytes) -> TimeStampResponse | None:
    try:
        return decode_timestamp_response(response)
    except ValueError:
        return None


def _certificates(path: Path) -> list[Certificate]:
    try:
        return load_pem_x509_certificates(path.read_bytes())
    except (OSError, ValueError) as error:
        raise WrongSettings(f"{_CA}: {path} cannot be read as certificates in PEM: {error}") from None
