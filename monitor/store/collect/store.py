"""Collected spans and events in the database: each call is one transaction, on a connection of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from queue import Empty, LifoQueue

import psycopg
from psycopg.pq import TransactionStatus

from monitor.core.settings.collect import TraceLimits
from monitor.core.trace import Collected
from monitor.store.collect import due, inbox, purge
from monitor.store.collect.due import DueTrace
from monitor.store.collect.inbox import HTTP, Event, append
from monitor.store.collect.keep import Kept, collect
from monitor.store.collect.parts import TraceKey
from monitor.store.database import plain_url, retriable, session

_SESSION = session(lock_timeout="5s", statement_timeout="20s", idle_in_transaction_session_timeout="10s")
RawParts = list[tuple[bool, bytes]]  # whether each is a log record, and its value


class CollectStore:
    """Any number of threads may call; each takes a connection that is free, or opens one.

    Every method may raise `Retriable`, and `keep` raises `Overloaded` where too much is open; nothing was stored then,
    unless only the answer to the commit was lost.
    """

    def __init__(self, url: str, limits: TraceLimits, now: Callable[[], datetime]) -> None:
        self._url = plain_url(url)
        self._limits = limits
        self._now = now
        self._free: LifoQueue[psycopg.Connection] = LifoQueue()

    @property
    def limits(self) -> TraceLimits:
        """What bounds the traces, and when they close."""
        return self._limits

    def keep(self, collected: Sequence[Collected]) -> Kept:
        """Keeps spans and log records, and appends events."""
        with self._transaction() as connection:
            return collect(connection, collected, self._limits, self._now())

    def append(self, events: Sequence[Event]) -> None:
        """Appends events that were sent by HTTP to the inbox, in their order."""
        if events:
            with self._transaction() as connection:
                append(connection, HTTP, events, self._now())

    def claim(self, most: int) -> list[DueTrace]:
        """Claims traces that are due, as `due.claim` does."""
        with self._transaction() as connection:
            return due.claim(connection, most)

    def parts(self, keys: Sequence[TraceKey]) -> Mapping[TraceKey, RawParts]:
        """The parts of traces, in no order."""
        with self._transaction() as connection:
            return due.parts(connection, keys)

    def around(self, lone: DueTrace) -> Sequence[TraceKey]:
        """The traces that may hold the call that a lone span repeats."""
        with self._transaction() as connection:
            return due.around(connection, lone)

    def close_traces(self, done: Sequence[tuple[DueTrace, bytes | None]]) -> int:
        """Closes traces, each with its event, as `due.close` does."""
        with self._transaction() as connection:
            return due.close(connection, done, self._limits, self._now())

    def hasten(self, keys: Sequence[TraceKey]) -> None:
        """Makes open traces due at once."""
        with self._transaction() as connection:
            due.hasten(connection, keys)

    def open_of(self, keys: Sequence[TraceKey]) -> int:
        """How many of these traces are open."""
        with self._transaction() as connection:
            return due.open_of(connection, keys)

    def ends(self) -> Mapping[str, int]:
        """The position behind the last message of each topic of the inbox."""
        with self._transaction() as connection:
            return inbox.ends(connection)

    def unread(self, group: str, ends: Mapping[str, int]) -> bool:
        """Whether the group has still to store messages before these positions."""
        with self._transaction() as connection:
            return inbox.unread(connection, group, ends)

    def purge(self) -> int:
        """Deletes what is old, as `purge.purge` does."""
        with self._transaction() as connection:
            return purge.purge(connection, self._limits)

    @contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection]:
        """A transaction, which is rolled back by an error."""
        with retriable():
            connection = self._taken()
            try:
                with connection.transaction():
                    yield connection
            finally:
                if connection.info.transaction_status == TransactionStatus.IDLE:
                    self._free.put(connection)
                else:
                    connection.close()

    def close(self) -> None:
        """Closes the free connections."""
        for connection in self._connections():
            connection.close()

    def _taken(self) -> psycopg.Connection:
        for connection in self._connections():
            if not connection.closed:
                return connection
        return psycopg.connect(self._url, **_SESSION)

    def _connections(self) -> Iterator[psycopg.Connection]:
        while True:
            try:
                yield self._free.get_nowait()
            except Empty:
                return
