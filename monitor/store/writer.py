"""Stores a batch in one transaction: keys decide what is new, COPY writes it, the rollup and dead letters go along."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import psycopg
from psycopg import sql

from monitor.errors import Fenced
from monitor.model import Assessment, Batch, DeadLetter, Offset, Tally
from monitor.store.database import plain_url, retriable
from monitor.store.partitions import Partitions, month_of
from monitor.store.rollup import LabelCap, prepare, write_rollup
from monitor.store.rows import ASSESSMENT_COLUMNS, INTERACTION_COLUMNS, assessment_row, interaction_row, sorted_by_key

# A lock or a network that does not come back turns into `Retriable`, so that a stop is noticed meanwhile.
_PATIENCE: dict[str, Any] = {
    "connect_timeout": 10, "tcp_user_timeout": 30_000, "options": "-c timezone=UTC -c lock_timeout=10s",
}  # fmt: skip
GROUP = "monitor"  # whose offsets these are; a consumer group of Kafka will bring its own
_NEW_KEYS = """
    INSERT INTO interaction_key (app, id, month)
    SELECT * FROM unnest(%s::text[], %s::text[], %s::date[])
    ON CONFLICT DO NOTHING RETURNING app, id
"""
_OFFSET = "SELECT next_offset FROM consumer_offset WHERE group_id = %s AND topic = %s AND partition = %s"
_FIRST_OFFSET = "INSERT INTO consumer_offset VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
_NEXT_OFFSET = """
    UPDATE consumer_offset SET next_offset = %s
    WHERE group_id = %s AND topic = %s AND partition = %s AND next_offset = %s
"""
_DEAD = """
    INSERT INTO dead_letter (topic, partition, position, received_at, key, header_names, header_values,
                             value, size, digest, path, problem)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (topic, partition, position, digest) DO NOTHING
"""


class Writer:
    """The `Store` port on PostgreSQL. One thread calls it; a lost connection is opened anew on the next write."""

    def __init__(self, url: str, now: Callable[[], datetime]) -> None:
        self._url = plain_url(url)
        self._now = now
        self._connection: psycopg.Connection | None = None
        self._partitions = Partitions()
        self._labels = LabelCap()
        self._unsure: Batch | None = None  # the batch whose last write failed, perhaps only after its commit

    def write(self, batch: Batch) -> Tally:
        """See `Store.write`."""
        try:
            with retriable():
                tally = self._write(batch)
        except BaseException:
            self._unsure = batch
            self._partitions.forget()
            self._labels.forget()
            raise
        self._unsure = None
        return tally

    def close(self) -> None:
        """Closes the connection; an open transaction is rolled back."""
        if self._connection is not None:
            self._connection.close()

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            connection = psycopg.connect(self._url, **_PATIENCE)
            try:
                with connection.transaction():
                    prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _write(self, batch: Batch) -> Tally:
        connection = self._connected()
        with connection.transaction():
            if batch is self._unsure and _reached(connection, batch.offsets):
                return Tally(received=batch.received, duplicate=len(batch.assessments), dead=len(batch.dead_letters))
            _advance(connection, batch.offsets)
            new = _only_new(connection, sorted_by_key(batch.assessments))
            if new:
                self._partitions.ensure(connection, (a.interaction for a in new))
                stored_at = self._now()
                _copy(connection, "interaction", INTERACTION_COLUMNS, [interaction_row(a, stored_at) for a in new])
                _copy(connection, "assessment", ASSESSMENT_COLUMNS, [assessment_row(a) for a in new])
                write_rollup(connection, new, self._labels)
            if batch.dead_letters:
                with connection.cursor() as cursor:
                    cursor.executemany(_DEAD, [_dead_row(letter) for letter in batch.dead_letters])
        return Tally(
            received=batch.received,
            assessed=len(new),
            duplicate=len(batch.assessments) - len(new),
            dead=len(batch.dead_letters),
        )


def _advance(connection: psycopg.Connection, offsets: Sequence[Offset]) -> None:
    """Moves the stored offsets on, first of all, so that of two readers of one source only one stores anything."""
    for o in offsets:
        if o.expected is None:
            moved = connection.execute(_FIRST_OFFSET, (GROUP, o.topic, o.partition, o.next))
        else:
            moved = connection.execute(_NEXT_OFFSET, (o.next, GROUP, o.topic, o.partition, o.expected))
        if moved.rowcount != 1:
            raise Fenced(f"{o.topic.rpartition('#')[0] or o.topic}: another process reads it too; stop one of the two")


def _reached(connection: psycopg.Connection, offsets: Sequence[Offset]) -> bool:
    """Whether these very offsets are stored: the commit went through, only its acknowledgement was lost."""
    stored = (connection.execute(_OFFSET, (GROUP, o.topic, o.partition)).fetchone() for o in offsets)
    return bool(offsets) and all(row == (o.next,) for row, o in zip(stored, offsets, strict=True))


def _only_new(connection: psycopg.Connection, assessments: Sequence[Assessment]) -> list[Assessment]:
    """Claims the keys and returns the assessments that were first to claim theirs, in the given order."""
    if not assessments:
        return []
    its = [a.interaction for a in assessments]
    rows = connection.execute(
        _NEW_KEYS, ([it.app for it in its], [it.id for it in its], [month_of(it.occurred_at) for it in its])
    ).fetchall()
    unclaimed = set(rows)
    new = []
    for assessment in assessments:
        key = (assessment.interaction.app, assessment.interaction.id)
        if key in unclaimed:
            unclaimed.discard(key)  # the same key again in this batch is a duplicate
            new.append(assessment)
    return new


def _copy(
    connection: psycopg.Connection, table: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]
) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def _dead_row(letter: DeadLetter) -> tuple[object, ...]:
    message, at = letter.message, letter.message.position
    return (
        _storable(at.topic), at.partition, at.offset, message.received_at, message.key,
        [_storable(name) for name, _ in message.headers], [value for _, value in message.headers],
        message.value, message.size, hashlib.sha256(message.value).digest(),
        _storable(letter.path), _storable(letter.problem),
    )  # fmt: skip


def _storable(text: str) -> str:
    """Postgres keeps no U+0000 and no lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
