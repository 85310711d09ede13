"""Sends events to `POST /v1/interactions` of the monitor."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from monitor.client.sender import Encoded, Refused, Unavailable

PATH = "/v1/interactions"
_MOST_REPLY = 1_000_000  # bytes of a reply that are read
# Statuses that say something of the destination or the token and nothing of the events: whoever is in charge repairs
# that, and until then the events wait.
_NOT_THE_EVENTS = {
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.PROXY_AUTHENTICATION_REQUIRED,
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
}


class _NoRedirect(HTTPRedirectHandler):
    """A POST that is redirected would arrive as a GET, and the token at somebody else's."""

    def redirect_request(self, *_: object) -> None:
        return None


class HttpSender:
    """Sends to `url`, with `/v1/interactions` added if it names no path. Proxies are as in the environment.

    Raises:
        ValueError: the token cannot stand in a header.
    """

    def __init__(self, url: str, *, token: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        self._url = url if parts.path.removeprefix("/") else parts._replace(path=PATH).geturl()
        self._headers = {"Content-Type": "application/json", "User-Agent": "monitor-client"}
        if token and (token := token.strip()):
            if not (token.isascii() and token.isprintable()):  # or else each error would repeat it
                raise ValueError("the token holds a character that no token may hold, such as a line break")
            self._headers["Authorization"] = f"Bearer {token}"
        self._timeout = timeout
        self._opener = build_opener(_NoRedirect)

    def send(self, events: Sequence[Encoded]) -> Sequence[str]:
        body = b"[" + b",".join(event.body for event in events) + b"]"
        request = Request(self._url, data=body, headers=self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._timeout) as reply:
                return _rejected(reply.read(_MOST_REPLY))
        except HTTPError as error:
            with error:
                problem = f"{self._url} answered {error.code} {error.reason}"
                if (
                    error.code in _NOT_THE_EVENTS
                    or not HTTPStatus.BAD_REQUEST <= error.code < HTTPStatus.INTERNAL_SERVER_ERROR
                ):
                    after = retry_after(error.headers.get("Retry-After"), time.time())
                    raise Unavailable(problem, retry_after=after) from None
                raise Refused(f"{problem}: {_detail(error)}") from None
        except (HTTPException, OSError) as error:
            raise Unavailable(f"{self._url} is out of reach: {getattr(error, 'reason', error)}") from error

    def close(self) -> None:
        self._opener.close()


def retry_after(value: str | None, now: float) -> float | None:
    """Seconds to wait, from a `Retry-After` of seconds or a date; None if there is none or it says nothing."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, TypeError):
            return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _detail(error: HTTPError) -> str:
    """The beginning of what the destination says of its refusal, which holds whether or not the words arrive."""
    try:
        return error.read(300).decode(errors="replace").strip()
    except (HTTPException, OSError):
        return "the rest of the reply did not come"


def _rejected(body: bytes) -> list[str]:
    """What the reply says of events that were refused alone; a reply of another form says nothing."""
    try:
        reply = json.loads(body)
    except ValueError:
        return []
    rejected = reply.get("rejected") if isinstance(reply, dict) else None
    return [json.dumps(one) for one in rejected] if isinstance(rejected, list) else []
