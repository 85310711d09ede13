"""A chatbot over HTTP that answers by a script: regular answers, refusals, and the ways in which answers get lost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from threading import Event, Lock, Thread
from typing import Any

KEY = "s3cret-key-of-the-chatbot"
DRIP = 0.02  # seconds between two bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Says:
    """One answer. `hangs` says nothing, and `drips` its head or its body byte by byte, until the server is closed."""

    status: int = 200
    body: str | bytes = '{"answer": "A refund takes 14 days."}'
    headers: Mapping[str, str] = field(default_factory=dict)
    hangs: bool = False
    drips: str = ""  # "head" or "body"
    hangs_up: bool = False

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else self.body


BUSY = Says(status=429, headers={"Retry-After": "0"}, body="slow down")
BROKEN = Says(status=500, body="<html>Internal Server Error</html>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came; the names of headers in small letters."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class Chatbot:
    """Says what the script holds, one after another, and then the regular answer for ever."""

    def __init__(self) -> None:
        self.url = ""
        self.script: list[Says] = []
        self.asked: list[Asked] = []
        self.closed = Event()
        self._lock = Lock()

    def hear(self, asked: Asked) -> Says:
        with self._lock:
            self.asked.append(asked)
            return self.script.pop(0) if self.script else Says()


@contextmanager
def chatbot() -> Iterator[Chatbot]:
    """Runs a chatbot on a free port for the block."""
    bot = Chatbot()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(bot))
    server.daemon_threads = True
    bot.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield bot
    finally:
        bot.closed.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(bot: Chatbot) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(
                method=self.command, path=self.path, headers=headers, body=json.loads(content) if content else None
            )
            with suppress(OSError):  # nobody listens any more
                self._say(bot.hear(asked))

        do_PUT = do_POST  # noqa: N815  the standard library looks for this name

        def _say(self, says: Says) -> None:
            if says.hangs:
                bot.closed.wait()
            self.close_connection = bool(says.hangs or says.hangs_up or says.drips)
            if says.drips == "head":
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Long: ")
                _drip(self.wfile, bot.closed)
            if says.drips == "head" or says.hangs or says.hangs_up:
                return
            self.send_response_only(says.status)
            for name, value in says.headers.items():
                self.send_header(name, value)
            if not says.drips:
                self.send_header("Content-Length", str(len(says.content)))
            self.end_headers()
            if says.drips == "body":
                _drip(self.wfile, bot.closed)
            else:
                self.wfile.write(says.content)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    return Handler


def _drip(file: BufferedIOBase, closed: Event) -> None:
    while not closed.wait(DRIP):
        file.write(b"x")
