"""Keeps what arrives of traces, in the caller's transaction: each span or log record once, within the limits.

Every transaction that writes these tables locks in one order: rows of `trace` by key, then the end of the inbox, then
one row of `trace_count`. All times are those of the database's clock, so that replicas need not agree on theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from monitor.core.errors import Overloaded, Retriable
from monitor.core.settings.collect import TraceLimits
from monitor.core.trace import Collected
from monitor.store.collect.inbox import HTTP, Event, append, of_app
from monitor.store.collect.parts import Arrival, Arrivals, Part, TraceKey, arrivals

if TYPE_CHECKING:
    import psycopg

_TOTALS = "SELECT sum(open)::bigint, sum(bytes)::bigint, clock_timestamp() FROM trace_count"
COUNT_OPEN = """
    SELECT count(*) FROM trace JOIN unnest(%b::text[], %b::text[]) AS wanted (app, trace_id) USING (app, trace_id)
    WHERE due_at IS NOT NULL
"""
_CREATE = """
    INSERT INTO trace (app, trace_id, first_at, last_at, due_at, started, ended, root, answer, spans, parts, bytes)
    SELECT app, trace_id, %b, %b, NULL, %b, 0, false, false, 0, 0, 0
    FROM unnest(%b::text[], %b::text[]) AS wanted (app, trace_id)
    ON CONFLICT (app, trace_id) DO NOTHING
"""
_LOCK = """
    SELECT app, trace_id, first_at, due_at, purge_at IS NOT NULL, root, answer, spans, parts, bytes
    FROM trace JOIN unnest(%b::text[], %b::text[]) AS wanted (app, trace_id) USING (app, trace_id)
    ORDER BY app COLLATE "C", trace_id COLLATE "C" FOR NO KEY UPDATE OF trace
"""
_KNOWN = "SELECT digest FROM trace_part WHERE app = %b AND trace_id = %b AND digest = ANY(%b)"
_KEEP = """
    WITH kept AS (
        INSERT INTO trace_part (app, trace_id, digest, log, value)
        SELECT * FROM unnest(%b::text[], %b::text[], %b::bytea[], %b::boolean[], %b::bytea[])
        ON CONFLICT (app, trace_id, digest) DO NOTHING RETURNING app, trace_id, log, octet_length(value) AS length
    )
    SELECT app, trace_id, count(*) FILTER (WHERE NOT log), count(*), sum(length)::bigint FROM kept GROUP BY 1, 2
"""
_GROW = """
    UPDATE trace SET last_at = %b, due_at = new.due_at, spans = spans + new.more_spans, parts = parts + new.more_parts,
        bytes = bytes + new.more_bytes,
        started = least(trace.started, new.started), ended = greatest(trace.ended, new.ended),
        root = trace.root OR new.root, answer = trace.answer OR new.answer
    FROM unnest(
        %b::text[], %b::text[], %b::timestamptz[], %b::integer[], %b::integer[], %b::bigint[], %b::bigint[],
        %b::bigint[], %b::boolean[], %b::boolean[]
    ) AS new (app, trace_id, due_at, more_spans, more_parts, more_bytes, started, ended, root, answer)
    WHERE trace.app = new.app AND trace.trace_id = new.trace_id
"""
_ADD_UP = """
    UPDATE trace_count SET open = open + %b, bytes = bytes + %b, spans = spans + %b, repeated = repeated + %b,
        refused = refused + %b, late = late + %b
    WHERE slot = pg_backend_pid() %% 16
"""
_NEVER_STARTED = 2**63 - 1
_OF_AGE, _MOST_WAITS = 0.1, 60  # how long a closed trace waits for more: by its age, by the shortest time
_BUSY = 5.0  # seconds after which a sender may try again where bytes, which are purged later, are the limit


class Kept(NamedTuple):
    """What became of spans and log records.

    `refused` ones are lost for good, because they were wrong or their trace is at its limits; `late` ones came after
    the other parts of their trace were gone; `repeated` ones were kept before.
    """

    received: int = 0
    repeated: int = 0
    refused: int = 0
    late: int = 0


_NOTHING = Kept()


@dataclass(frozen=True, slots=True)
class _Row:
    """A locked row of `trace`."""

    first_at: datetime
    due_at: datetime | None
    closed: bool  # it was closed before, though it may be open again
    root: bool
    answer: bool
    spans: int
    parts: int
    bytes: int

    @property
    def gone(self) -> bool:
        """Whether its parts were purged or erased."""
        return self.parts > 0 and self.bytes == 0


def collect(connection: psycopg.Connection, collected: Sequence[Collected], limits: TraceLimits, now: datetime) -> Kept:
    """Keeps spans and log records, and appends events to the inbox, received at `now`.

    Spans and records that were kept before change nothing.

    Raises:
        Overloaded: more traces would be open, or more bytes kept, than may be; nothing is to be committed.
    """
    kept, opened, more_bytes = _keep(connection, arrivals(collected), limits)
    if rejected := sum(each.rejected for each in collected):
        kept = kept._replace(received=kept.received + rejected, refused=kept.refused + rejected)
    events = [Event(event, headers=of_app(each.app)) for each in collected for event in each.events]
    if events:
        append(connection, HTTP, events, now)
    if kept.received:
        add_up(connection, opened=opened, more_bytes=more_bytes, kept=kept)
    return kept


def _keep(connection: psycopg.Connection, offered: Arrivals, limits: TraceLimits) -> tuple[Kept, int, int]:
    """Keeps parts; returns what became of them, how many traces it opened, and how many bytes are new."""
    if not offered:
        return Kept(), 0, 0
    keys = columns(offered)
    now = _admit(connection, offered, keys, limits)
    connection.execute(_CREATE, (now, now, _NEVER_STARTED, *keys), prepare=True)
    rows = {(app, trace_id): _Row(*row) for app, trace_id, *row in connection.execute(_LOCK, keys, prepare=True)}
    if len(rows) < len(offered):
        raise Retriable("a trace was forgotten at this moment")
    chosen, refused, late = _chosen(connection, offered, rows, limits)
    grown = _kept(connection, chosen)
    _grow(connection, {key: (offered[key], rows[key], more) for key, more in grown.items()}, now, limits)
    received = sum(arrival.offered for arrival in offered.values())
    new = sum(parts for _, parts, _ in grown.values())
    kept = Kept(received=received, repeated=received - new - refused - late, refused=refused, late=late)
    opened = sum(rows[key].due_at is None for key in grown)
    return kept, opened, sum(length for _, _, length in grown.values())


def add_up(connection: psycopg.Connection, *, opened: int, more_bytes: int, kept: Kept = _NOTHING) -> None:
    """Adds to the totals; the last statement of a transaction, since others may wait for the row."""
    connection.execute(_ADD_UP, (opened, more_bytes, *kept), prepare=True)


def _admit(
    connection: psycopg.Connection,
    offered: Mapping[TraceKey, Arrival],
    keys: Sequence[list[str]],
    limits: TraceLimits,
) -> datetime:
    """Refuses what would exceed the limits of all traces together; returns the time.

    What is more than half of a limit by itself is let in while half is free: it would never fit otherwise.
    """
    totals = connection.execute(_TOTALS, prepare=True).fetchone()
    if totals is None or totals[0] is None:
        raise Retriable("the totals of traces are missing")
    opened, held, now = totals
    if _exceed(held, sum(arrival.bytes for arrival in offered.values()), limits.max_bytes):
        raise Overloaded(f"{held:,} bytes of spans are kept; the limit is {limits.max_bytes:,}", _BUSY)
    if _exceed(opened, len(offered), limits.max_open):
        known = connection.execute(COUNT_OPEN, keys).fetchone()
        if _exceed(opened, len(offered) - (known[0] if known else 0), limits.max_open):
            raise Overloaded(f"{opened:,} traces are open; the limit is {limits.max_open:,}", limits.close_after)
    return now  # type: ignore[no-any-return]


def _exceed(held: int, more: int, limit: int) -> bool:
    return held + min(more, max(limit // 2, 1)) > limit


def _chosen(
    connection: psycopg.Connection,
    offered: Mapping[TraceKey, Arrival],
    rows: Mapping[TraceKey, _Row],
    limits: TraceLimits,
) -> tuple[list[tuple[TraceKey, Part]], int, int]:
    """The parts that their traces have room for; how many are refused, and how many are late."""
    chosen: list[tuple[TraceKey, Part]] = []
    refused = late = 0
    for key, arrival in offered.items():
        row = rows[key]
        if row.gone:
            late += arrival.offered
            continue
        parts: Iterable[Part] = arrival.parts.values()
        if row.parts + len(arrival.parts) > limits.max_parts or row.bytes + arrival.bytes > limits.max_trace_bytes:
            fitting = _fitting(connection, key, arrival, row, limits)
            refused += len(arrival.parts) - len(fitting)
            parts = fitting
        chosen += [(key, part) for part in parts]
    return chosen, refused, late


def _fitting(
    connection: psycopg.Connection, key: TraceKey, arrival: Arrival, row: _Row, limits: TraceLimits
) -> list[Part]:
    """The parts that are kept already, and the first of the others that there is room for."""
    known = {digest for (digest,) in connection.execute(_KNOWN, (*key, list(arrival.parts)))}
    room, size, fitting = limits.max_parts - row.parts, limits.max_trace_bytes - row.bytes, []
    for part in arrival.parts.values():
        if part.digest not in known:
            if room < 1 or size < len(part.value):
                continue
            room, size = room - 1, size - len(part.value)
        fitting.append(part)
    return fitting


def _kept(
    connection: psycopg.Connection, chosen: Sequence[tuple[TraceKey, Part]]
) -> dict[TraceKey, tuple[int, int, int]]:
    """Stores the parts; returns how many spans, parts and bytes are new for each trace that has new ones."""
    if not chosen:
        return {}
    found = connection.execute(_KEEP, columns((*key, *part) for key, part in chosen), prepare=True)
    return {(app, trace_id): (spans, parts, length) for app, trace_id, spans, parts, length in found}


def _grow(
    connection: psycopg.Connection,
    grown: Mapping[TraceKey, tuple[Arrival, _Row, tuple[int, int, int]]],
    now: datetime,
    limits: TraceLimits,
) -> None:
    rows = [
        (
            *key,
            _due(arrival, row, more[0], now, limits),
            *more,
            arrival.started,
            arrival.ended,
            arrival.root,
            arrival.answer,
        )
        for key, (arrival, row, more) in grown.items()
    ]
    if rows:
        connection.execute(_GROW, (now, *columns(rows)), prepare=True)


def _due(arrival: Arrival, row: _Row, more_spans: int, now: datetime, limits: TraceLimits) -> datetime:
    """When a trace that has grown is to be assembled.

    A single span is never taken for a whole trace: it may be the double of a call in another one, which comes later.
    """
    soon = now + timedelta(seconds=limits.close_after)
    if row.closed:
        again = now + _until_revised(now - row.first_at, limits)
        return again if row.due_at is None else min(row.due_at, again)
    complete = (row.root or arrival.root) and (row.answer or arrival.answer) and row.spans + more_spans > 1
    if complete:
        return soon if row.due_at is None else min(row.due_at, soon)
    latest = row.first_at + timedelta(seconds=limits.longest)
    return min(now + timedelta(seconds=limits.idle), max(now, latest))


def _until_revised(age: timedelta, limits: TraceLimits) -> timedelta:
    """How long a closed trace waits for more: the longer, the older it is, since each time all its spans are read."""
    least = timedelta(seconds=limits.close_after)
    return max(least, min(age * _OF_AGE, least * _MOST_WAITS))


def longest_wait(limits: TraceLimits) -> float:
    """Seconds that an open trace waits at most until it is due, once nothing more of it comes."""
    return max(limits.idle, limits.close_after * _MOST_WAITS)


def columns(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """The columns of rows, as `unnest` takes them."""
    return [list(column) for column in zip(*rows, strict=True)]
