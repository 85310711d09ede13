"""The scripted Slack over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.servers.slack.server import HOOK_PATH, SlackServer
from tests.servers.slack.socket import socket_end


@contextmanager
def slack_server() -> Iterator[SlackServer]:
    """Runs a server on free ports for the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            said = server.answer(self.path, self.headers, body)
            if said.hang_up:
                return  # the connection closes without a word
            text = said.body if said.body is not None else json.dumps({"ok": False, "error": said.error})
            if self.path == HOOK_PATH and said.body is None:
                text = said.error or ""
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with socket_end() as socket:
        server = SlackServer(f"http://127.0.0.1:{http.server_port}", socket)
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            http.shutdown()
            thread.join()
            http.server_close()
