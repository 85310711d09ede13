"""Multiplies stored answers by COPY, and reads what each table and index takes on disk."""

from __future__ import annotations

import time
from collections.abc import Mapping

import psycopg
from psycopg import sql

from monitor.core.figures.latency import LATENCY_BINS
from monitor.store.interaction.rollup import KEY
from monitor.store.tables.interactions import HISTOGRAM_BINS, METRICS
from monitor.store.tables.usage import LATENCY

_APART = "interval '37 seconds'"  # between the copies of an answer
_RENAMED = {"id": "id || '-' || copy", "occurred_at": f"occurred_at - copy * {_APART}"}
_TABLES: Mapping[str, Mapping[str, str]] = {
    "interaction_key": _RENAMED,
    "interaction": _RENAMED,
    "assessment": _RENAMED,
    "audit_secret": _RENAMED,
}
_COLUMNS = """
    SELECT column_name FROM information_schema.columns
    WHERE table_name = %s AND table_schema = 'public' ORDER BY ordinal_position
"""
_SIZES = """
    SELECT
        coalesce(pg_partition_root(i.indrelid)::oid, i.indrelid, pg_partition_root(c.oid)::oid, c.oid)::regclass::text,
        CASE WHEN i.indexrelid IS NULL THEN '' ELSE coalesce(pg_partition_root(c.oid)::oid, c.oid)::regclass::text END,
        sum(CASE WHEN i.indexrelid IS NULL THEN pg_table_size(c.oid) ELSE pg_relation_size(c.oid) END)::bigint
    FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
    WHERE c.relkind IN ('r', 'i') AND c.relnamespace = 'public'::regnamespace
    GROUP BY 1, 2 HAVING sum(pg_relation_size(c.oid)) > 100000 ORDER BY 3 DESC
"""


# The minutes of what was multiplied, and the hours of these.
_MINUTES = f"""
    SELECT {{names}} FROM (
        SELECT date_trunc('minute', minute - copy * {_APART}) AS minute, app, environment, model, topic, {{others}}
        FROM verdict_minute, generate_series(0, {{copies}}) AS copy
    ) every GROUP BY {", ".join(KEY)} ORDER BY {", ".join(KEY)}
"""
_ROLLUP = "SELECT {sums} FROM verdict_minute GROUP BY 1, app, environment, model, topic ORDER BY 1"


_SAMPLE = 50_000  # rows
_BINS = {**{f"{metric}_bins": HISTOGRAM_BINS for metric in METRICS}, LATENCY: LATENCY_BINS}
_WHOLE = "(SELECT array_agg(coalesce({0}[place], 0) ORDER BY place) FROM generate_series(1, {1}) place)"


def fill(url: str, copies: int) -> dict[str, float]:
    """Multiplies every stored answer by COPY, with its key, secret and rollup; seconds by table."""
    seconds: dict[str, float] = {}
    with psycopg.connect(url) as reading, psycopg.connect(url, autocommit=True) as writing:
        reading.execute("SET TimeZone = 'UTC'")
        writing.execute("SET monitor.hours = 'written'; SET synchronous_commit = off")
        for table, changed in _TABLES.items():
            names = _names(reading, table)
            columns = ", ".join(changed.get(name, name) for name in names)
            query = f"SELECT {columns} FROM {table}, generate_series(1, {copies}) AS copy"
            seconds[table] = _copied(reading, writing, query, f"{table} ({', '.join(names)})")
        seconds |= _rollups(reading, writing, copies)
    return seconds


def _rollups(reading: psycopg.Connection, writing: psycopg.Connection, copies: int) -> dict[str, float]:
    minutes, hours = _names(reading, "verdict_minute"), _names(reading, "verdict_hour")
    others = ", ".join(name for name in minutes if name not in KEY)
    query = _MINUTES.format(names=", ".join(map(_sum, minutes)), others=others, copies=copies)
    writing.execute("CREATE TABLE made_minute (LIKE verdict_minute)")
    seconds = {"verdict_minute": _copied(reading, writing, query, f"made_minute ({', '.join(minutes)})")}
    reading.rollback()
    writing.execute("TRUNCATE verdict_minute, verdict_hour")
    seconds["verdict_minute"] = _copied(reading, writing, "SELECT * FROM made_minute", "verdict_minute")
    reading.rollback()
    writing.execute("DROP TABLE made_minute")
    squares = {name: f"sum(bin_squares({m}_bins, {m}_count, {m}_sum))" for m in METRICS for name in (f"{m}_squares",)}
    sums = ", ".join(
        "date_trunc('hour', minute)" if name == "hour" else squares.get(name, _sum(name)) for name in hours
    )
    seconds["verdict_hour"] = _copied(reading, writing, _ROLLUP.format(sums=sums), f"verdict_hour ({', '.join(hours)})")
    return seconds


def _names(connection: psycopg.Connection, table: str) -> list[str]:
    return [name for (name,) in connection.execute(_COLUMNS, (table,))]


def _sum(name: str) -> str:
    if name in KEY:
        return name
    return f"add_bins(sum_bins({name}), NULL)" if name.endswith("_bins") else f"sum({name})"


def _copied(reading: psycopg.Connection, writing: psycopg.Connection, query: str, into: str) -> float:
    begin = time.perf_counter()
    with (
        reading.cursor().copy(f"COPY ({query}) TO STDOUT") as given,
        writing.cursor().copy(f"COPY {into} FROM STDIN") as taken,
    ):
        for block in given:
            taken.write(block)
    return time.perf_counter() - begin


def sizes(url: str) -> dict[str, float]:
    """Bytes of each table, with what it keeps out of line, and of each index; those of partitions together."""
    with psycopg.connect(url) as connection:
        return {
            f"{table}: {index}" if index else table: float(size) for table, index, size in connection.execute(_SIZES)
        }


def minutes(url: str) -> dict[str, float]:
    """The rows of `verdict_minute`, and bytes of one in its table, also if its histograms had all their bins."""
    with psycopg.connect(url) as connection:
        ((rows, size),) = connection.execute("SELECT count(*), pg_table_size('verdict_minute') FROM verdict_minute")
        connection.execute("CREATE TABLE whole (LIKE verdict_minute INCLUDING DEFAULTS) WITH (fillfactor = 70)")
        names = _names(connection, "verdict_minute")
        columns = ", ".join(_WHOLE.format(name, _BINS[name]) if name in _BINS else name for name in names)
        connection.execute(f"INSERT INTO whole SELECT {columns} FROM verdict_minute LIMIT {_SAMPLE}")
        ((whole, of_whole),) = connection.execute("SELECT count(*), pg_table_size('whole') FROM whole")
        connection.rollback()
    return {"rows": rows, "bytes of a row": size / rows, "with all bins, bytes of a row": of_whole / whole}


def vacuumed(url: str) -> dict[str, float]:
    """Seconds of VACUUM (ANALYZE) of the tables with most rows."""
    seconds = {}
    with psycopg.connect(url, autocommit=True) as connection:
        for table in (*_TABLES, "verdict_minute", "audit_leaf"):
            begin = time.perf_counter()
            connection.execute(sql.SQL("VACUUM (ANALYZE) {}").format(sql.Identifier(table)))
            seconds[table] = time.perf_counter() - begin
    return seconds
