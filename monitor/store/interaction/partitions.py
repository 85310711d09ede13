"""Claims the keys of new interactions, and makes the month partitions of interactions, assessments and judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING

from psycopg import sql

from monitor.core.model import Interaction, Mark

if TYPE_CHECKING:
    import psycopg

PARTITIONED = ("interaction", "assessment", "judgement")
PARTITION_LOCK = 7_305_102
_NEW_KEYS = """
    INSERT INTO interaction_key (app, id, month)
    SELECT * FROM unnest(%s::text[], %s::text[], %s::date[]) AS wanted (app, id, month)
    WHERE NOT EXISTS (SELECT FROM retention_month d WHERE d.app = wanted.app AND d.month = wanted.month)
    ON CONFLICT DO NOTHING RETURNING app, id
"""
# The claim of a key may have waited for a retention that dropped the key's month.
_DROPPED = """
    SELECT app, month FROM retention_month
    JOIN (SELECT DISTINCT * FROM unnest(%s::text[], %s::date[]) AS made (app, month)) AS made USING (app, month)
"""
_UNCLAIM = "DELETE FROM interaction_key WHERE (app, id) IN (SELECT * FROM unnest(%s::text[], %s::text[]))"


def month_of(moment: datetime) -> date:
    """The first day of the month, in UTC."""
    return date(moment.year, moment.month, 1)


class Partitions:
    """Makes sure that a month's partitions exist, and remembers the months it has seen."""

    def __init__(self) -> None:
        self._seen: set[date] = set()

    def ensure(self, connection: psycopg.Connection, interactions: Iterable[Interaction]) -> None:
        """Creates missing partitions, in the caller's transaction.

        Rows whose time is marked as out of range get no partition: they go to the default one.
        """
        months = {month_of(it.occurred_at) for it in interactions if Mark.TIME_OUT_OF_RANGE not in it.marks}
        missing = sorted(months - self._seen)
        if not missing:
            return
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (PARTITION_LOCK,))
        # Of a clock that was ahead for days, the default partition may hold so many rows of the month that no limit on
        # a statement suffices, and no try would ever succeed. Locks keep their limit.
        connection.execute("SET LOCAL statement_timeout = 0")
        for month in missing:
            for table in PARTITIONED:
                _create(connection, table, month)
        connection.execute("SET LOCAL statement_timeout TO DEFAULT")  # that of the session
        self._seen.update(missing)

    def forget(self) -> None:
        """To be called after a rollback, which undoes the creation of partitions."""
        self._seen.clear()


def _create(connection: psycopg.Connection, table: str, month: date) -> None:
    name = f"{table}_{month:%Y_%m}"
    if connection.execute("SELECT to_regclass(%s)", (name,)).fetchone() != (None,):
        return
    after = date(month.year + month.month // 12, month.month % 12 + 1, 1)
    parts = {
        "table": sql.Identifier(table),
        "default": sql.Identifier(f"{table}_default"),
        "name": sql.Identifier(name),
        "start": sql.Literal(f"{month}T00:00Z"),
        "end": sql.Literal(f"{after}T00:00Z"),
    }
    # A partition cannot be attached while the default one holds rows of its month, so these move first.
    for statement in (
        "CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)",
        """WITH moved AS (DELETE FROM {default} WHERE occurred_at >= {start} AND occurred_at < {end} RETURNING *)
           INSERT INTO {name} SELECT * FROM moved""",
        "ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({start}) TO ({end})",
    ):
        connection.execute(sql.SQL(statement).format(**parts))


def claim_keys(connection: psycopg.Connection, interactions: Sequence[Interaction]) -> list[Interaction]:
    """Claims the keys, and returns the interactions that were the first to claim theirs, in the given order."""
    if not interactions:
        return []
    # where a key occurs twice, the first month
    months = {
        (interaction.app, interaction.id): month_of(interaction.occurred_at) for interaction in reversed(interactions)
    }
    rows = connection.execute(
        _NEW_KEYS,
        (
            [interaction.app for interaction in interactions],
            [interaction.id for interaction in interactions],
            [month_of(interaction.occurred_at) for interaction in interactions],
        ),
    ).fetchall()
    claimed = set(rows) - _dropped(connection, {made: months[made] for made in rows})
    new = []
    for interaction in interactions:
        if (interaction.app, interaction.id) in claimed:
            claimed.discard((interaction.app, interaction.id))  # a second interaction with this key is a duplicate
            new.append(interaction)
    return new


def _dropped(connection: psycopg.Connection, made: Mapping[tuple[str, str], date]) -> set[tuple[str, str]]:
    """Deletes again, and returns, the keys in a month that retention has dropped for their app."""
    months = ([app for app, _ in made], list(made.values()))
    gone = set(connection.execute(_DROPPED, months).fetchall()) if made else set()
    late = {place for place, month in made.items() if (place[0], month) in gone}
    if late:
        connection.execute(_UNCLAIM, ([app for app, _ in late], [id_ for _, id_ in late]))
    return late
