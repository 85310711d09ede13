"""Deletes what is kept of closed traces: first their parts, which hold texts, and later their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, text

from monitor.core.settings.collect import TraceLimits
from monitor.store.collect.due import LEASE
from monitor.store.collect.keep import add_up, columns, longest_wait

if TYPE_CHECKING:
    import psycopg

BATCH = 500  # traces of one transaction
_DUE = """
    SELECT app, trace_id, bytes FROM trace
    WHERE due_at IS NULL AND purge_at <= clock_timestamp() + make_interval(
        secs => CASE WHEN (SELECT sum(bytes) FROM trace_count) > %s THEN %s ELSE 0 END)
    ORDER BY purge_at LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
"""
_DELETE = """
    DELETE FROM trace_part USING unnest(%s::text[], %s::text[]) AS gone (app, trace_id)
    WHERE trace_part.app = gone.app AND trace_part.trace_id = gone.trace_id
"""
_EMPTY = """
    UPDATE trace SET bytes = 0, due_at = NULL, purge_at = NULL
    FROM unnest(%s::text[], %s::text[]) AS gone (app, trace_id)
    WHERE trace.app = gone.app AND trace.trace_id = gone.trace_id
"""
_FORGET = """
    DELETE FROM trace WHERE (app, trace_id) IN (
        SELECT app, trace_id FROM trace
        WHERE bytes = 0 AND due_at IS NULL AND last_at < clock_timestamp() - make_interval(secs => %s)
        ORDER BY last_at LIMIT %s FOR UPDATE SKIP LOCKED
    )
"""

# With the clock of the database set back since, they would wait until it has caught up.
_STRANDED = """
    UPDATE trace SET due_at = clock_timestamp() WHERE (app, trace_id) IN (
        SELECT app, trace_id FROM trace WHERE due_at > clock_timestamp() + make_interval(secs => %s)
        ORDER BY app COLLATE "C", trace_id COLLATE "C" LIMIT %s FOR NO KEY UPDATE SKIP LOCKED
    )
"""

_LOCK = text("""
    SELECT app, trace_id, bytes, due_at IS NOT NULL AS open FROM trace WHERE trace_id = ANY(:ids) AND app IN ('', :app)
    ORDER BY app COLLATE "C", trace_id COLLATE "C" FOR NO KEY UPDATE
""")
# A statement of its own: it sees the parts that a transaction stored for which the one before had to wait.
_ERASE_PARTS = text("""
    DELETE FROM trace_part p USING unnest(CAST(:apps AS text[]), CAST(:ids AS text[])) AS gone (app, trace_id)
    WHERE p.app = gone.app AND p.trace_id = gone.trace_id
""")
# What was claimed to be assembled at this moment is given up: its row is not as it was.
_ERASE = text("""
    UPDATE trace t SET bytes = 0, parts = greatest(parts, 1), due_at = NULL, purge_at = NULL
    FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[])) AS gone (app, trace_id)
    WHERE t.app = gone.app AND t.trace_id = gone.trace_id
""")
# The turns that wait become events of a known id, which are counted as duplicates and store no text.
_UNREVISE = text("""
    UPDATE inbox SET revises = false WHERE revises AND EXISTS (
        SELECT FROM unnest(CAST(:terms AS bytea[])) AS term WHERE position(term IN value) > 0
    )
""")
_TAKE_OFF = text(
    "UPDATE trace_count SET bytes = bytes - :bytes, open = open - :open WHERE slot = pg_backend_pid() % 16"
)


def erase_traces(connection: Connection, app: str, ids: Sequence[str]) -> None:
    """Deletes the spans of these traces in the caller's transaction; spans that come later are dropped.

    Turns of theirs that wait in the inbox no longer revise what is stored.
    """
    rows = connection.execute(_LOCK, {"app": app, "ids": list(ids)}).all()
    locked = {"apps": [row.app for row in rows], "ids": [row.trace_id for row in rows]}
    connection.execute(_ERASE_PARTS, locked)
    connection.execute(_ERASE, locked)
    connection.execute(_UNREVISE, {"terms": [f'"{id_}"'.encode() for id_ in ids]})
    taken = {"bytes": sum(row.bytes for row in rows), "open": sum(row.open for row in rows)}
    connection.execute(_TAKE_OFF, taken)


def purge(connection: psycopg.Connection, limits: TraceLimits) -> int:
    """Deletes the parts of traces that closed long enough ago, `BATCH` traces at most; returns how many.

    While more than half of the bytes that may be kept are taken, those of every closed trace go, oldest first. Rows are
    forgotten last. Makes traces due that would wait longer than any does. A transaction of its own.
    """
    found = connection.execute(_DUE, (limits.max_bytes // 2, limits.keep_parts, BATCH)).fetchall()
    if found:
        apps, ids, sizes = columns(found)
        connection.execute(_DELETE, (apps, ids))
        connection.execute(_EMPTY, (apps, ids))
        add_up(connection, opened=0, more_bytes=-sum(sizes))
    connection.execute(_STRANDED, (max(longest_wait(limits), LEASE), BATCH))
    connection.execute(_FORGET, (limits.remember, 10 * BATCH))
    return len(found)
