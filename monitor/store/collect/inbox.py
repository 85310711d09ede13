"""The inbox: a small log of messages in the database, read like a topic of Kafka.

Positions of a topic are consecutive, and committed in their order: whoever appends holds the topic's end until then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from monitor.store.database import copy_rows

if TYPE_CHECKING:
    import psycopg

OTLP, HTTP = "otlp", "http"  # turns of traces; events that were sent by HTTP
TOPICS = (HTTP, OTLP)
PARTITION = 0
APP = "monitor-app"  # a header of our own: the app comes before any name that the event gives
_ADVANCE = """
    INSERT INTO inbox_end (topic, partition, next_position) VALUES (%s, %s, %s)
    ON CONFLICT (topic, partition) DO UPDATE SET next_position = inbox_end.next_position + excluded.next_position
    RETURNING next_position
"""
_ENDS = "SELECT topic, next_position FROM inbox_end WHERE partition = %s"
_UNREAD = """
    SELECT EXISTS (
        SELECT FROM unnest(%s::text[], %s::bigint[]) AS wanted (topic, position)
        LEFT JOIN consumer_offset o ON o.group_id = %s AND o.topic = wanted.topic AND o.partition = %s
        WHERE coalesce(o.next_offset, 0) < wanted.position
    )
"""
_COLUMNS = ("topic", "partition", "position", "received_at", "revises", "header_names", "header_values", "value")


class Event(NamedTuple):
    """An event to append. `revises`: it replaces the interaction of its id."""

    value: bytes
    revises: bool = False
    headers: tuple[tuple[str, bytes], ...] = ()


def append(connection: psycopg.Connection, topic: str, events: Sequence[Event], received_at: datetime) -> int:
    """Appends in the caller's transaction; returns the position behind the last."""
    row = connection.execute(_ADVANCE, (topic, PARTITION, len(events))).fetchone()
    end: int = 0 if row is None else row[0]
    first = end - len(events)
    copy_rows(
        connection,
        "inbox",
        _COLUMNS,
        (
            (
                topic,
                PARTITION,
                first + i,
                received_at,
                event.revises,
                [name for name, _ in event.headers],
                [value for _, value in event.headers],
                event.value,
            )
            for i, event in enumerate(events)
        ),
    )
    return end


def of_app(app: str | None) -> tuple[tuple[str, bytes], ...]:
    """The headers of an event of this app, if it was given."""
    return () if app is None else ((APP, app.encode()),)


def ends(connection: psycopg.Connection) -> dict[str, int]:
    """The position behind the last message of each topic."""
    return dict(connection.execute(_ENDS, (PARTITION,)).fetchall())


def unread(connection: psycopg.Connection, group: str, positions: Mapping[str, int]) -> bool:
    """Whether the group has still to store messages before these positions of topics."""
    row = connection.execute(_UNREAD, (list(positions), list(positions.values()), group, PARTITION)).fetchone()
    return bool(row and row[0])
