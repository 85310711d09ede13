"""Stores what requests bring: each call is one transaction, on a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from queue import Empty, LifoQueue
from typing import Any

import psycopg

from monitor.core.message import Message
from monitor.core.trace import Collected
from monitor.store.collect.inbox import HTTP, Event, append
from monitor.store.collect.keep import Kept, keep
from monitor.store.collect.limits import TraceLimits
from monitor.store.database import plain_url, retriable

_PATIENCE: dict[str, Any] = {
    "connect_timeout": 10,
    "tcp_user_timeout": 30_000,
    "options": "-c timezone=UTC -c lock_timeout=5s -c statement_timeout=20s"
    " -c idle_in_transaction_session_timeout=10s",
}


class RequestStore:
    """Any number of threads may call; each takes a connection that is free, or opens one.

    Every method may raise `Retriable`, and `Overloaded` where too much is open; nothing was kept then, unless only the
    answer to the commit was lost.
    """

    def __init__(self, url: str, limits: TraceLimits, now: Callable[[], datetime]) -> None:
        self._url = plain_url(url)
        self._limits = limits
        self._now = now
        self._free: LifoQueue[psycopg.Connection] = LifoQueue()

    def keep(self, collected: Sequence[Collected]) -> Kept:
        """Keeps spans and log records."""
        with self.transaction() as connection:
            return keep(connection, collected, self._limits)

    def append(self, messages: Sequence[Message]) -> None:
        """Appends events to the inbox, in their order."""
        if messages:
            events = [Event(message.value, headers=message.headers) for message in messages]
            with self.transaction() as connection:
                append(connection, HTTP, events, self._now())

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection]:
        """A transaction, which is rolled back by an error."""
        with retriable():
            connection = self._taken()
            try:
                with connection.transaction():
                    yield connection
            except BaseException:
                connection.close()
                raise
            self._free.put(connection)

    def close(self) -> None:
        """Closes the free connections."""
        for connection in self._connections():
            connection.close()

    def _taken(self) -> psycopg.Connection:
        for connection in self._connections():
            if not connection.closed:
                return connection
        return psycopg.connect(self._url, **_PATIENCE)

    def _connections(self) -> Iterator[psycopg.Connection]:
        while True:
            try:
                yield self._free.get_nowait()
            except Empty:
                return
