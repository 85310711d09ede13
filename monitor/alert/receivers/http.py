"""One HTTP request of a receiver, and what its answer means.

No error text and no log line of this module holds a URL, a header or what was sent: each may be or hold a secret.
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
    """What a server said: the beginning of its body, and the seconds after which it wants to be asked again."""

    status: int
    body: bytes
    wait: float | None

    @property
    def done(self) -> bool:
        """Whether the request did what it was for."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES


class Endpoint:
    """One address of a server. `name` says in messages who it is, `setting` what to change where it is wrong.

    Proxies and certificates are those of the environment (HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE). Redirects are not
    followed: what is sent is meant for nobody else.

    Raises:
        WrongSettings: `url` is no http or https URL, or `headers` hold what no header can.
    """

    def __init__(self, url: str, *, name: str, setting: str, headers: Mapping[str, str] | None = None) -> None:
        self._setting = setting
        try:
            self._url = httpx2.URL(http_url(url) or "")
        except (httpx2.InvalidURL, ValueError):
            self._url = httpx2.URL("")
        if not _HOST.fullmatch(self._url.raw_host):
            raise WrongSettings(f"{setting} is no http or https URL")
        self.host = self._url.netloc.decode("ascii")  # without user and password
        self._name = f"{name} at {self.host}"
        self._headers = {"User-Agent": "rag-monitor", **(headers or {})}
        if not all(value.isascii() and value.isprintable() for value in self._headers.values()):
            raise WrongSettings(f"{setting} and what belongs to it: a secret holds characters that no header takes")
        self._tls: ssl.SSLContext | None = None
        logging.getLogger("httpx2").setLevel(logging.WARNING)  # it tells of every request, with the URL

    def post(self, body: bytes, headers: Mapping[str, str] | None = None) -> Answer:
        """Posts JSON, once; the answer may be any.

        Raises:
            Retriable: no whole answer came.
        """
        return self._answered("POST", body, {"Content-Type": _JSON, **(headers or {})})

    def get(self) -> Answer:
        """Asks, once; as `post`."""
        return self._answered("GET", b"", {"Accept": _JSON})

    def judged(self, answer: Answer, said: str = "") -> Retriable | Fatal:
        """What an answer that is not as it should be is raised as; `said` are the server's words, if worth telling."""
        words = f"{self._name}: HTTP {answer.status}" + (f" ({plain(said)[:300]})" if said else "")
        if answer.status in _BUSY or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return Retriable(words, retry_after=answer.wait)
        if answer.done:
            return Retriable(f"{words}: that is not its answer; check {self._setting}")
        if HTTPStatus.MULTIPLE_CHOICES <= answer.status < HTTPStatus.BAD_REQUEST:
            return Fatal(f"{words}: redirects are not followed; set {self._setting} to where it leads")
        return Fatal(f"{words}: check {self._setting} and what belongs to it")

    def _answered(self, method: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        until = monotonic() + TIMEOUT
        content = bytearray()
        try:
            # a connection of its own each time: notifications are rare, and one that idled may be gone
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
        said = response.headers
        return Answer(status=response.status_code, body=bytes(content[:_LARGEST_ANSWER]), wait=retry_after(said))

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:  # reading all certificates of the system takes a while
            self._tls = ssl.create_default_context()
        return self._tls


def _reason(error: BaseException) -> str:
    """The system's own reason if there is one, else the kind of error: its text may hold the URL."""
    below: BaseException | None = error
    while below is not None:
        if isinstance(below, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({below.verify_message})"
        if isinstance(below, OSError) and below.strerror:
            return below.strerror
        below = below.__cause__ or below.__context__
    return type(error).__name__
