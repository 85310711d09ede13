"""A scripted HTTP server on 127.0.0.1 that keeps what is posted to it: webhooks, and the base of other scripted ones.

`script` holds what the next requests meet instead of an orderly answer; None is an orderly one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

SECRET = "TopSecretSigningKey"
TOKEN = "TopSecretBearerToken"
PATH = "/hooks/TopSecretHookPath"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What came; the names of headers in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a request meets: an HTTP answer, or none at all. With `lost`, it was carried out nevertheless."""

    status: int = 200
    body: str | bytes = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    hang_up: bool = False
    lost: bool = False


RATE_LIMITED = Answer(status=429, headers={"Retry-After": "30"})
RATE_LIMITED_UNTIL = Answer(
    status=429, headers={"Date": "Fri, 21 Nov 2025 12:00:00 GMT", "Retry-After": "Fri, 21 Nov 2025 12:02:00 GMT"}
)
BROKEN = Answer(status=500, body="<html>Internal Server Error</html>")
HANG_UP = Answer(hang_up=True)
LOST = Answer(hang_up=True, lost=True)


class HttpServer:
    """`url` is the root's. `requests` holds all that came in whole and was carried out."""

    def __init__(self, respond: Callable[[Request], Answer] = lambda _: Answer()) -> None:
        self.url = ""
        self.script: list[Answer | None] = []
        self.requests: list[Request] = []
        self._respond = respond
        self._lock = Lock()

    def reset(self) -> None:
        self.script.clear()
        self.requests.clear()

    def answer(self, request: Request) -> Answer:
        """What to say to a request, after doing what it asks."""
        with self._lock:
            trouble = self.script.pop(0) if self.script else None
            if trouble and not trouble.lost:
                return trouble
            self.requests.append(request)
            return trouble or self._respond(request)


def signed(request: Request) -> Answer:
    """As a careful owner of a webhook answers: 401 to what is not signed with `SECRET`, or without `TOKEN`."""
    sent = request.headers.get("x-monitor-timestamp", "")
    mac = hmac.new(SECRET.encode(), sent.encode() + b"." + request.body, hashlib.sha256).hexdigest()
    genuine = hmac.compare_digest(f"sha256={mac}", request.headers.get("x-monitor-signature", ""))
    allowed = request.headers.get("authorization") == f"Bearer {TOKEN}"
    return Answer(status=204 if genuine and allowed and request.path == PATH else 401)


@contextmanager
def http_server(respond: Callable[[Request], Answer] = lambda _: Answer()) -> Iterator[HttpServer]:
    """Runs a server on a free port for the block; `respond` gives the orderly answers."""
    server = HttpServer(respond)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            said = server.answer(Request(method=self.command, path=self.path, headers=headers, body=body))
            if said.hang_up:
                return  # the connection closes without a word
            self.send_response_only(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.body if isinstance(said.body, bytes) else said.body.encode())

        do_GET = do_POST  # noqa: N815  the standard library looks for this name

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
