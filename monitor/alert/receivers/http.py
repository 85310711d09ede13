"""Sends HTTP requests for receivers, and turns bad answers into errors.

No error text and no log line of this module holds a URL, a header or a body: each may be or hold a secret.
"""

from __future__ import annotations

import logging
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic

import httpx2

from monitor.alert.wording import http_url
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.core.retry import retry_after
from monitor.core.text.plain import plain

TIMEOUT = 10.0  # seconds
_LARGEST_ANSWER = 64 * 1024
_BUSY = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}
_JSON = "application/json"
_HOST = re.compile(rb"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+")  # a name, or IPv6 without its brackets


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer: its status, the beginning of its body, and the seconds that the server asks to wait, if it does."""

    status: int
    body: bytes
    wait: float | None

    @property
    def done(self) -> bool:
        """Whether the request succeeded."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


class Endpoint:
    """One address of a server. Messages call it `name`, and name `setting` as the setting to change.

    Proxies and certificates come from the environment (HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE). Redirects are not
    followed: the content is meant for this server only.

    Raises:
        WrongSettings: `url` is not an http or https URL, or a header value has characters that are not allowed.
    """

    def __init__(self, url: str, *, name: str, setting: str, headers: Mapping[str, str] | None = None) -> None:
        self._setting = setting
        try:
            self._url = httpx2.URL(http_url(url) or "")
        except (httpx2.InvalidURL, ValueError):
            self._url = httpx2.URL("")
        if not _HOST.fullmatch(self._url.raw_host):
            raise WrongSettings(f"{setting} is not an http or https URL")
        self.host = self._url.netloc.decode("ascii")  # without user and password
        self._name = f"{name} at {self.host}"
        self._headers = {"User-Agent": "rag-monitor", **(headers or {})}
        if not all(value.isascii() and value.isprintable() for value in self._headers.values()):
            raise WrongSettings(f"{setting} and its related settings: a secret has characters not allowed in a header")
        self._tls: ssl.SSLContext | None = None
        logging.getLogger("httpx2").setLevel(logging.WARNING)  # httpx2 logs every request with its URL

    def post(self, body: bytes, headers: Mapping[str, str] | None = None) -> Answer:
        """Posts JSON once, and returns the answer whatever its status.

        Raises:
            Retriable: no complete answer came.
        """
        return self._answered("POST", body, {"Content-Type": _JSON, **(headers or {})})

    def get(self) -> Answer:
        """Gets once; like `post`."""
        return self._answered("GET", b"", {"Accept": _JSON})

    def judged(self, answer: Answer, explanation: str = "") -> Retriable | Fatal:
        """The error to raise for an unexpected answer; `explanation` is the server's own, if it gives one."""
        words = f"{self._name}: HTTP {answer.status}" + (f" ({plain(explanation)[:300]})" if explanation else "")
        if answer.status in _BUSY or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return Retriable(words, retry_after=answer.wait)
        if answer.done:
            return Retriable(f"{words}: this answer is not from the expected service; check {self._setting}")
        if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
            return Fatal(f"{words}: redirects are not followed; set {self._setting} to the address it redirects to")
        return Fatal(f"{words}: check {self._setting} and its related settings")

    def _answered(self, method: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        until = monotonic() + TIMEOUT
        content = bytearray()
        try:
            # a new connection each time: notifications are rare, and an idle connection may be gone
            with (
                httpx2.Client(timeout=TIMEOUT, verify=self._context(), follow_redirects=False) as client,
                client.stream(method, self._url, content=body, headers={**self._headers, **headers}) as response,
            ):
                for chunk in response.iter_raw():
                    content += chunk
                    if len(content) >= _LARGEST_ANSWER:
                        break
                    if monotonic() > until:
                        raise Retriable(f"{self._name} does not answer in time")
        except httpx2.TimeoutException:
            raise Retriable(f"{self._name} does not answer in time") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise Retriable(f"{self._name} is out of reach: {_reason(error)}") from None
        wait = retry_after(response.headers)
        return Answer(status=response.status_code, body=bytes(content[:_LARGEST_ANSWER]), wait=wait)

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:  # reading the system's certificates takes a while
            self._tls = ssl.create_default_context()
        return self._tls


def _reason(error: BaseException) -> str:
    """The reason that the system gives, or else the kind of error: the error's text may hold the URL."""
    below: BaseException | None = error
    while below is not None:
        if isinstance(below, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({below.verify_message})"
        if isinstance(below, OSError) and below.strerror:
            return below.strerror
        below = below.__cause__ or below.__context__
    return type(error).__name__
