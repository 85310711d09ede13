"""Traces that are due: claimed by one process for a while, read, and closed with the event that was made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from psycopg.rows import class_row

from monitor.core.settings.collect import TraceLimits
from monitor.store.collect.inbox import OTLP, Event, append
from monitor.store.collect.keep import COUNT_OPEN, add_up, columns
from monitor.store.collect.parts import TraceKey

if TYPE_CHECKING:
    import psycopg

LEASE = 60.0  # seconds for which a claimed trace is left to the process that claimed it
DOUBLE_WITHIN = 600 * 10**9  # nanoseconds by which a trace may begin before its double
MOST_AROUND, MOST_AROUND_BYTES = 20, 16 * 2**20  # of the traces that are compared with a lone span
_CLAIM = """
    WITH due AS (
        SELECT app, trace_id FROM trace WHERE due_at <= clock_timestamp()
        ORDER BY due_at LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE trace SET due_at = clock_timestamp() + make_interval(secs => %s)
    FROM due WHERE trace.app = due.app AND trace.trace_id = due.trace_id
    RETURNING trace.app, trace.trace_id, due_at AS lease, first_at, spans, parts, bytes, started, ended, turn_app
"""
_HASTEN = """
    UPDATE trace SET due_at = least(due_at, clock_timestamp()) WHERE (app, trace_id) IN (
        SELECT app, trace_id FROM trace JOIN unnest(%s::text[], %s::text[]) AS wanted (app, trace_id)
        USING (app, trace_id) WHERE due_at IS NOT NULL
        ORDER BY app COLLATE "C", trace_id COLLATE "C" FOR NO KEY UPDATE OF trace
    )
"""
_PARTS = """
    SELECT app, trace_id, log, value FROM trace_part
    JOIN unnest(%b::text[], %b::text[]) AS wanted (app, trace_id) USING (app, trace_id)
"""
_AROUND = """
    SELECT app, trace_id, bytes FROM trace
    WHERE app = %(app)s AND started BETWEEN %(from)s AND %(started)s AND ended >= %(ended)s
      AND spans > 1 AND bytes > 0 AND trace_id <> %(trace_id)s
    ORDER BY started DESC LIMIT %(most)s
"""
_FINISHED = """
    SELECT app, trace_id, event_digest FROM trace
    JOIN unnest(%s::text[], %s::text[], %s::timestamptz[], %s::integer[]) AS done (app, trace_id, due_at, parts)
    USING (app, trace_id, due_at, parts)
    ORDER BY app COLLATE "C", trace_id COLLATE "C" FOR NO KEY UPDATE OF trace
"""
_CLOSE = """
    UPDATE trace SET due_at = NULL, event_digest = coalesce(done.digest, event_digest),
        turn_app = coalesce(trace.turn_app, done.turn_app),
        purge_at = coalesce(purge_at, clock_timestamp() + make_interval(secs => %s))
    FROM unnest(%s::text[], %s::text[], %s::bytea[], %s::text[]) AS done (app, trace_id, digest, turn_app)
    WHERE trace.app = done.app AND trace.trace_id = done.trace_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTrace:
    """A claimed trace, as it was then; `lease` tells the claim from later ones.

    `turn_app` is the app of its turn, None before its first event.
    """

    app: str
    trace_id: str
    lease: datetime
    first_at: datetime
    spans: int
    parts: int
    bytes: int
    started: int
    ended: int
    turn_app: str | None

    @property
    def key(self) -> TraceKey:
        """By which its row is found."""
        return self.app, self.trace_id


def claim(connection: psycopg.Connection, most: int) -> list[DueTrace]:
    """Claims up to `most` traces that are due, oldest first, for `LEASE` seconds. A transaction of its own."""
    with connection.cursor(row_factory=class_row(DueTrace)) as cursor:
        return sorted(cursor.execute(_CLAIM, (most, LEASE)), key=lambda trace: trace.key)


def hasten(connection: psycopg.Connection, keys: Sequence[TraceKey]) -> None:
    """Makes these traces due at once, where they are open; a claim of theirs is void."""
    connection.execute(_HASTEN, columns(keys))


def open_of(connection: psycopg.Connection, keys: Sequence[TraceKey]) -> int:
    """How many of these traces are open."""
    row = connection.execute(COUNT_OPEN, columns(keys)).fetchone()
    return 0 if row is None else row[0]


def parts(connection: psycopg.Connection, keys: Sequence[TraceKey]) -> Mapping[TraceKey, list[tuple[bool, bytes]]]:
    """The parts of traces, each with whether it is a log record; in no order."""
    found: dict[TraceKey, list[tuple[bool, bytes]]] = {key: [] for key in keys}
    if keys:
        for app, trace_id, log, value in connection.execute(_PARTS, columns(keys), binary=True, prepare=True):
            found[app, trace_id].append((log, value))
    return found


def around(connection: psycopg.Connection, lone: DueTrace) -> list[TraceKey]:
    """Other traces of the app whose time encloses that of a lone span, latest first: it may repeat a call of theirs."""
    values = {
        "app": lone.app,
        "trace_id": lone.trace_id,
        "from": lone.started - DOUBLE_WITHIN,
        "started": lone.started,
        "ended": lone.ended,
        "most": MOST_AROUND,
    }
    found: list[TraceKey] = []
    room = MOST_AROUND_BYTES
    for app, trace_id, length in connection.execute(_AROUND, values):
        room -= length
        if room < 0:
            break
        found.append((app, trace_id))
    return found


def close(
    connection: psycopg.Connection, done: Iterable[tuple[DueTrace, bytes | None]], limits: TraceLimits, now: datetime
) -> int:
    """Closes traces in the caller's transaction, each with its event, None where it has no turn.

    An event goes to the inbox unless it is that of the last time; after another one it revises. A trace that has grown
    since it was claimed, or that another process claimed since, is left as it is. Returns the number of events.
    """
    given = {trace.key: (trace, event) for trace, event in done}
    claims = [(*trace.key, trace.lease, trace.parts) for trace, _ in given.values()]
    if not claims:
        return 0
    events, closed = [], []
    for app, trace_id, digest in connection.execute(_FINISHED, columns(claims)):
        trace, event = given[app, trace_id]
        new = None if event is None else sha256(event).digest()
        closed.append((app, trace_id, new, None if event is None else trace.turn_app))
        if event is not None and new != digest:
            events.append(Event(event, revises=digest is not None))
    if not closed:
        return 0
    connection.execute(_CLOSE, (limits.keep_parts, *columns(closed)))
    if events:
        append(connection, OTLP, events, now)
    add_up(connection, opened=-len(closed), more_bytes=0)
    return len(events)
