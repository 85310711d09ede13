"""Serves the scripted server over real HTTP."""

from __future__ import annotations

import select
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from tests.servers.llm.server import LLMServer
from tests.servers.llm.troubles import Request, Trouble


@contextmanager
def llm_server(*, port: int = 0, **over: Any) -> Iterator[LLMServer]:
    """The server, which runs until the block ends; `over` are fields of LLMServer."""
    state = LLMServer(**over)
    with _Server(port, state) as server:
        state.base_url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    """Closes the open connections at the end and waits for the threads."""

    daemon_threads = False
    request_queue_size = 128

    def __init__(self, port: int, state: LLMServer) -> None:
        self.state = state
        self.ending, self._end = socket.socketpair()  # the first becomes readable when the second is closed
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        connection, address = super().get_request()
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # clients may disconnect at any time
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        self._end.close()
        for connection in list(self._open):
            with suppress(OSError):  # its own thread closed it in the meantime
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()
        self.ending.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._respond()

    def do_POST(self) -> None:
        self._respond()

    def do_DELETE(self) -> None:
        self._respond()

    def _respond(self) -> None:
        started, state = monotonic(), self.server.state
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request.read(self.command, urlsplit(self.path).path, self.headers, content)
        with state.at_work(request):
            trouble = state.receive(request)
            reply = self._reply(request, trouble)
            last = self._send(reply, trouble) if reply else b""
        # A client may ask again as soon as it has its answer, so the count of requests in flight goes down before.
        self.wfile.write(last)
        self.close_connection = self.close_connection or trouble.cut or not last
        outcome = str(reply.status) if reply and last else "no answer"
        state.log(f"{self.command} {request.path} → {outcome} in {1000 * (monotonic() - started):.0f} ms")

    def _reply(self, request: Request, trouble: Trouble) -> Trouble | None:
        """The final answer, or None for no answer."""
        state = self.server.state
        if trouble.answered:
            waited = self._wait_until(monotonic() + state.latency + trouble.silence)
            return state.fulfil(request, trouble) if waited else None
        return None if trouble.hang_up else trouble

    def _send(self, reply: Trouble, trouble: Trouble) -> bytes:
        """Sends all but the last piece, and returns that piece; it is empty if the client left in the meantime."""
        body = (reply.body or "").encode()
        standard = {"Date": self.date_time_string(), "Content-Type": "application/json"}
        headers = {**standard, **reply.headers, "Content-Length": str(len(body))}
        lines = [f"HTTP/1.1 {reply.status} {self.responses.get(reply.status, ('Unknown',))[0]}"]
        lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
        head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        if trouble.cut:
            return head + body[: len(body) // 2]
        if not trouble.trickle:
            return head + body
        answer, started = head + body, monotonic()
        for index in range(len(answer) - 1):
            self.wfile.write(answer[index : index + 1])
            if not self._wait_until(started + trouble.trickle * (index + 1) / len(answer)):
                return b""
        return answer[-1:]

    def _wait_until(self, moment: float) -> bool:
        """Waits, but returns False at once if the client leaves or the server ends before."""
        seconds = moment - monotonic()
        return seconds <= 0 or not select.select([self.connection, self.server.ending], [], [], seconds)[0]

    def log_message(self, *_: object) -> None:
        """Does nothing: `log` gets the line."""
