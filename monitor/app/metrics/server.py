"""An HTTP server of a thread per connection, for pages that anyone on the network may ask for.

The process that answers also handles events, so connections are bounded in number and in time.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from typing_extensions import override

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

log = logging.getLogger(__name__)


class _Quiet(WSGIRequestHandler):
    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Scrapes are not worth a line each."""


class LimitedServer(ThreadingMixIn, WSGIServer):
    """A connection is closed after `seconds` in all, whatever it is doing; a new one beyond `most` at once."""

    daemon_threads = True
    most = 32
    seconds = 30.0

    @override
    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._since: dict[Any, float] = {}
        super().__init__(*arguments, **named)

    @override
    def process_request(self, request: Any, client_address: Any) -> None:
        if len(self._since) >= self.most:
            self.shutdown_request(request)
            return
        self._since[request] = monotonic()
        super().process_request(request, client_address)

    @override
    def close_request(self, request: Any) -> None:
        self._since.pop(request, None)
        super().close_request(request)

    @override
    def service_actions(self) -> None:
        """Ends old connections: called after each request, and at least twice a second."""
        too_old = monotonic() - self.seconds
        for request, since in list(self._since.items()):
            if since < too_old:
                with suppress(OSError):  # its thread has just closed it
                    request.shutdown(socket.SHUT_RDWR)

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """The library would print a traceback for each client that goes away."""
        log.debug("a connection from %s broke off", client_address)


class _LimitedServer6(LimitedServer):
    address_family = socket.AF_INET6


@contextmanager
def serving(app: WSGIApplication, host: str, port: int, server: type[LimitedServer] = LimitedServer) -> Iterator[int]:
    """Answers with `app` from a thread while the block runs; yields the port, which is chosen where `port` is 0.

    Raises:
        OSError: the address cannot be used.
    """
    made = make_server(host, port, _guarded(app), _LimitedServer6 if ":" in host else server, handler_class=_Quiet)
    thread = Thread(target=made.serve_forever, name="metrics", daemon=True)
    thread.start()
    try:
        yield made.server_port
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


def _guarded(app: WSGIApplication) -> WSGIApplication:
    """Logs what `app` raises; the library would print its text, which may quote what was handled."""

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        try:
            return app(environ, start_response)
        except Exception:
            log.exception("%s failed", environ["PATH_INFO"])
            start_response("500 Internal Server Error", [("Content-Type", "text/plain; charset=utf-8")])
            return [b"this is a defect; the log has the details\n"]

    return answer
