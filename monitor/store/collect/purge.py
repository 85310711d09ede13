"""Deletes what is kept of closed traces: first their parts, which hold texts, and later their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitor.store.collect.keep import add_up
from monitor.store.collect.limits import TraceLimits

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


def purge(connection: psycopg.Connection, limits: TraceLimits) -> int:
    """Deletes the parts of traces that closed long enough ago, `BATCH` traces at most; returns how many.

    While more than half of the bytes that may be kept are taken, those of every closed trace go, oldest first. Rows are
    forgotten last. A transaction of its own.
    """
    found = connection.execute(_DUE, (limits.max_bytes // 2, limits.keep_parts, BATCH)).fetchall()
    if found:
        apps, ids, sizes = (list(column) for column in zip(*found, strict=True))
        connection.execute(_DELETE, (apps, ids))
        connection.execute(_EMPTY, (apps, ids))
        add_up(connection, opened=0, more_bytes=-sum(sizes))
    connection.execute(_FORGET, (limits.remember, 10 * BATCH))
    return len(found)
