"""The other end of Socket Mode: a WebSocket server that sends envelopes and keeps what is acknowledged."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from threading import Lock, Thread
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

_numbers = count(1)


class SocketEnd:
    """`url` is what `apps.connections.open` hands out. `acks` are the ids of the envelopes that were acknowledged."""

    def __init__(self) -> None:
        self.url = ""
        self.acks: list[str] = []
        self.opened = 0
        self._open: list[ServerConnection] = []
        self._lock = Lock()

    @property
    def connected(self) -> bool:
        return bool(self._open)

    def serve(self, connection: ServerConnection) -> None:
        with self._lock:
            self._open.append(connection)
            self.opened += 1
        try:
            connection.send(json.dumps({"type": "hello", "num_connections": 1}))
            for message in connection:
                self.acks.append(json.loads(message)["envelope_id"])
        except ConnectionClosed:
            pass
        finally:
            with self._lock:
                self._open.remove(connection)

    def send(self, payload: dict[str, Any], *, envelope: str | None = None, kind: str = "interactive") -> str:
        """Sends one to the newest connection; the id of its envelope."""
        envelope = envelope or f"envelope-{next(_numbers)}"
        sent = {"type": kind, "envelope_id": envelope, "accepts_response_payload": False, "payload": payload}
        self._newest().send(json.dumps(sent))
        return envelope

    def refresh(self) -> None:
        """Asks for a new connection, as Slack does every few hours."""
        self._newest().send(json.dumps({"type": "disconnect", "reason": "refresh_requested"}))

    def close(self) -> None:
        """Ends the connections with a word."""
        for connection in list(self._open):
            connection.close()

    def drop(self) -> None:
        """Ends them without one."""
        for connection in list(self._open):
            with suppress(OSError):
                connection.socket.shutdown(socket.SHUT_RDWR)

    def _newest(self) -> ServerConnection:
        with self._lock:
            return self._open[-1]


def click(action: str, value: str, **changes: Any) -> dict[str, Any]:
    """A press of a button as Slack tells of it."""
    known: dict[str, Any] = {
        "type": "block_actions",
        "user": {"id": "U0ADA", "username": "ada", "team_id": "T0001"},
        "container": {"type": "message", "message_ts": "1.1", "channel_id": "C0ALERTS"},
        "channel": {"id": "C0ALERTS", "name": "alerts"},
        "trigger_id": "1.2.3",
        "actions": [{"type": "button", "action_id": action, "value": value, "action_ts": f"{next(_numbers)}.1"}],
    }
    return known | changes


@contextmanager
def socket_end() -> Iterator[SocketEnd]:
    """Runs one on a free port for the block."""
    end = SocketEnd()
    silent = logging.getLogger("tests.servers.slack")
    silent.setLevel(logging.CRITICAL + 1)  # it quotes the ticket
    with serve(end.serve, "127.0.0.1", 0, logger=silent) as server:
        host, port = server.socket.getsockname()[:2]
        end.url = f"ws://{host}:{port}/link/?ticket=TopSecretTicket&app_id=A1"
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield end
        finally:
            end.close()
            server.shutdown()
            thread.join()
