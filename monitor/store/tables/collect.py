"""The tables of traces that are still arriving, and of the inbox.

A trace is `open` while it has a `due_at`. Its parts go at `purge_at`; its row stays for a while, so that spans which
come even later make no second turn. Parts hold texts; rows of `trace` hold none.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Index, Integer, LargeBinary, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from monitor.store.tables.interactions import metadata

_time = DateTime(timezone=True)

trace = Table(
    "trace",
    metadata,
    Column("app", Text, primary_key=True),  # of the token or topic; '': the spans say it
    Column("trace_id", Text, primary_key=True),
    Column("first_at", _time, nullable=False),  # these two: when its parts arrived
    Column("last_at", _time, nullable=False),
    Column("due_at", _time),  # when it is to be assembled, or tried again; null: it is closed
    Column("purge_at", _time),  # when its parts go; null: it is open, or they are gone
    Column("started", BigInteger, nullable=False),  # these two: of its spans, nanoseconds since 1970
    Column("ended", BigInteger, nullable=False),
    Column("root", Boolean, nullable=False),  # these two: whether such a span has arrived
    Column("answer", Boolean, nullable=False),
    Column("spans", Integer, nullable=False),
    Column("parts", Integer, nullable=False),  # spans and log records
    Column("bytes", BigInteger, nullable=False),  # of the parts that are kept; 0: they are gone
    Column("event_digest", LargeBinary),  # SHA-256 of the last event that was made of it; null: of none
    Column("turn_app", Text),  # of the turn, by its first event; null: there was none
    Index("trace_due", "due_at", postgresql_where=text("due_at IS NOT NULL")),
    Index("trace_to_purge", "purge_at", postgresql_where=text("purge_at IS NOT NULL")),
    Index("trace_by_time", "app", "started", "ended", postgresql_where=text("spans > 1 AND bytes > 0")),
    Index("trace_by_arrival", "last_at", postgresql_where=text("bytes = 0")),
    Index("trace_by_id", "trace_id"),
)

trace_part = Table(
    "trace_part",
    metadata,
    Column("app", Text, primary_key=True),
    Column("trace_id", Text, primary_key=True),
    Column("digest", LargeBinary, primary_key=True),  # of the value: what arrives again changes nothing
    Column("log", Boolean, nullable=False),  # a log record; else a span
    Column("value", LargeBinary, nullable=False),  # JSON
)

# Totals over all traces, spread over several rows so that transactions seldom wait for each other: add them up.
trace_count = Table(
    "trace_count",
    metadata,
    Column("slot", Integer, primary_key=True),
    Column("open", BigInteger, nullable=False),  # traces
    Column("bytes", BigInteger, nullable=False),  # of parts that are kept
    Column("spans", BigInteger, nullable=False),  # from here on, since the beginning: spans and log records received …
    Column("repeated", BigInteger, nullable=False),  # … that were kept already
    Column("refused", BigInteger, nullable=False),  # … that were wrong in a message, or of traces at their limits
    Column("late", BigInteger, nullable=False),  # … whose trace's other parts were gone
)

inbox_end = Table(
    "inbox_end",
    metadata,
    Column("topic", Text, primary_key=True),
    Column("partition", Integer, primary_key=True),
    Column("next_position", BigInteger, nullable=False),  # whoever appends locks the row, so no position is left out
)

inbox = Table(
    "inbox",
    metadata,
    Column("topic", Text, primary_key=True),
    Column("partition", Integer, primary_key=True),
    Column("position", BigInteger, primary_key=True),
    Column("received_at", _time, nullable=False),
    Column("revises", Boolean, nullable=False),
    Column("header_names", ARRAY(Text), nullable=False),
    Column("header_values", ARRAY(LargeBinary), nullable=False),
    Column("value", LargeBinary, nullable=False),
)
