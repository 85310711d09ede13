"""Reads the inbox as a source of the ordinary flow. One process reads at a time; another takes over when it is gone."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event as Signal
from threading import Lock
from typing import Any

import psycopg
from typing_extensions import override

from monitor.core.errors import Fatal, Fenced, Retriable
from monitor.core.message import Message, Offset, Position, Progress
from monitor.core.ports import Source
from monitor.store.collect.inbox import PARTITION, TOPICS
from monitor.store.database import SIGNS_OF_LIFE, plain_url, retriable, session

log = logging.getLogger(__name__)
INBOX_LOCK = 7_305_128
# The lock belongs to this session, which reads too: a reader whose session is lost has lost the lock and knows it.
_SESSION = session(lock_timeout="10s", statement_timeout="20s") | {"autocommit": True}
_STORED = "SELECT topic, next_offset FROM consumer_offset WHERE group_id = %s AND topic = ANY(%s) AND partition = %s"
_NEXT = """
    SELECT position, received_at, revises, header_names, header_values, value FROM (
        SELECT *, sum(octet_length(value)) OVER (ORDER BY position) - octet_length(value) AS before FROM (
            SELECT * FROM inbox WHERE topic = %s AND partition = %s AND position >= %s ORDER BY position LIMIT %s
        ) AS first
    ) AS counted WHERE before < %s ORDER BY position
"""
_DELETE = "DELETE FROM inbox WHERE topic = %s AND partition = %s AND position < %s"


@dataclass(slots=True)
class _Reading:
    """How far a topic was read; `stored` is the offset in the database that the next batch replaces."""

    next: int
    expected: int | None


class InboxSource(Source):
    """The `Source` port on the inbox.

    The input never ends. Rows are deleted after they are stored.
    """

    def __init__(self, url: str, *, group: str, stop: Signal) -> None:
        self._url = plain_url(url)
        self._group = group
        self._stop = stop
        self._connection: psycopg.Connection | None = None
        self._ours = False
        self._readings: dict[str, _Reading] = {}
        self._offsets: list[Offset] = []
        self._guard = Lock()  # of the next two, which the writing thread changes
        self._stored: dict[str, int] = {}
        self._lost = False

    @override
    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        try:
            with retriable():
                connection = self._connected()
                messages: list[Message] = []
                if self._ours or self._take_over(connection):
                    self._delete(connection)
                    messages = self._read(connection, max_messages, max_bytes)
        except (Retriable, Fatal):
            self._drop()
            raise
        if not messages:
            self._stop.wait(timeout)
        return messages

    @override
    def offsets(self) -> Sequence[Offset]:
        offsets, self._offsets = self._offsets, []
        return offsets

    @override
    def hold(self) -> None:
        """Rows can wait."""

    @override
    def stored(self, offsets: Sequence[Offset]) -> None:
        """The next poll deletes the rows."""
        with self._guard:
            self._stored.update({offset.topic: offset.next for offset in offsets})

    @override
    def fenced(self, offsets: Sequence[Offset], error: Fenced) -> None:
        """The next poll looks again where to read."""
        log.warning("%s", error)
        with self._guard:
            self._lost = True

    @override
    def progress(self) -> Sequence[Progress]:
        """Empty: whoever runs the flow records the progress of the inbox, see `waiting`."""
        return ()

    @override
    def close(self) -> None:
        if self._connection is not None and self._ours:
            with suppress(Retriable, Fatal), retriable():
                self._delete(self._connection)
        self._drop()

    def _connected(self) -> psycopg.Connection:
        with self._guard:
            lost, self._lost = self._lost, False
        if lost:
            self._drop()
        if self._connection is None or self._connection.closed:
            self._ours = False
            self._connection = psycopg.connect(self._url, **_SESSION)
            self._connection.execute(SIGNS_OF_LIFE)
        return self._connection

    def _drop(self) -> None:
        """Ends the session, and with it the lock."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._ours = None, False

    def _take_over(self, connection: psycopg.Connection) -> bool:
        """Tries to become the one process that reads, from where the store says."""
        row = connection.execute("SELECT pg_try_advisory_lock(%s)", (INBOX_LOCK,)).fetchone()
        self._ours = bool(row and row[0])
        if self._ours:
            stored = self._offsets_stored(connection)
            self._readings = {topic: _Reading(stored.get(topic, 0), stored.get(topic)) for topic in TOPICS}
            self._offsets = []
            with self._guard:
                self._stored = dict(stored)
        return self._ours

    def _offsets_stored(self, connection: psycopg.Connection) -> dict[str, int]:
        return dict(connection.execute(_STORED, (self._group, list(TOPICS), PARTITION)).fetchall())

    def _delete(self, connection: psycopg.Connection) -> None:
        with self._guard:
            stored, self._stored = self._stored, {}
        for topic, end in stored.items():
            connection.execute(_DELETE, (topic, PARTITION, end))

    def _read(self, connection: psycopg.Connection, max_messages: int, max_bytes: int) -> list[Message]:
        messages: list[Message] = []
        for topic, reading in self._readings.items():
            if len(messages) >= max_messages or max_bytes <= 0:
                break
            wanted = (topic, PARTITION, reading.next, max_messages - len(messages), max_bytes)
            rows = connection.execute(_NEXT, wanted, binary=True).fetchall()
            if not rows:
                continue
            found = [_message(topic, row) for row in rows]
            messages += found
            max_bytes -= sum(message.size for message in found)
            end = found[-1].position.offset + 1
            self._offsets.append(
                Offset(
                    topic=topic,
                    partition=PARTITION,
                    expected=reading.expected,
                    next=end,
                    begin=reading.next,
                    received=len(found),
                    arrived=found[-1].received_at,
                )
            )
            reading.next = reading.expected = end
        return messages


def _message(topic: str, row: tuple[Any, ...]) -> Message:
    position, received_at, revises, names, values, value = row
    return Message(
        value=value,
        position=Position(topic=topic, partition=PARTITION, offset=position),
        received_at=received_at,
        headers=tuple(zip(names, values, strict=True)),
        size=len(value),
        revises=revises,
    )
