"""Month partitions of interactions, assessments and judgements, made when the first row of a month comes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import TYPE_CHECKING

from psycopg import sql

from monitor.core.model import Interaction, Mark

if TYPE_CHECKING:
    import psycopg

PARTITIONED = ("interaction", "assessment", "judgement")
PARTITION_LOCK = 7_305_102


def month_of(moment: datetime) -> date:
    """The first day of the month, in UTC."""
    return date(moment.year, moment.month, 1)


class Partitions:
    """Makes sure that a month's partitions exist; remembers those it has seen."""

    def __init__(self) -> None:
        self._seen: set[date] = set()

    def ensure(self, connection: psycopg.Connection, interactions: Iterable[Interaction]) -> None:
        """Creates what is missing, in the caller's transaction.

        Rows whose time is marked as out of range make no partition: they go to the default one.
        """
        months = {month_of(it.occurred_at) for it in interactions if Mark.TIME_OUT_OF_RANGE not in it.marks}
        missing = sorted(months - self._seen)
        if not missing:
            return
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (PARTITION_LOCK,))
        for month in missing:
            for table in PARTITIONED:
                _create(connection, table, month)
        self._seen.update(missing)

    def forget(self) -> None:
        """After a rollback: what was created in it is gone."""
        self._seen.clear()


def _create(connection: psycopg.Connection, table: str, month: date) -> None:
    name = f"{table}_{month:%Y_%m}"
    if connection.execute("SELECT to_regclass(%s)", (name,)).fetchone() != (None,):
        return
    after = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    parts = {
        "table": sql.Identifier(table), "default": sql.Identifier(f"{table}_default"), "name": sql.Identifier(name),
        "start": sql.Literal(f"{month}T00:00Z"), "end": sql.Literal(f"{after}T00:00Z"),
    }  # fmt: skip
    # A partition cannot be attached while the default one holds rows of its month, so these move over first.
    for statement in (
        "CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)",
        """WITH moved AS (DELETE FROM {default} WHERE occurred_at >= {start} AND occurred_at < {end} RETURNING *)
           INSERT INTO {name} SELECT * FROM moved""",
        "ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({start}) TO ({end})",
    ):
        connection.execute(sql.SQL(statement).format(**parts))
