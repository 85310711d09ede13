"""Removes interactions that have been kept long enough: whole months where all of a month is due, else row by row.

With an interaction go its assessments, judgements, pending work, secret and feedback, the notes on its labels, and what
alerts quote of it. Rollups, the ledger, labels and the leaves of the audit trail stay; a `retention` act says what is
missing and why. The key of a single row stays, so that its event still counts as a duplicate. The keys of a dropped
month go, and the month is remembered with the apps that had any: their events of that month count as duplicates too,
since no key is left to tell them from new ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from sqlalchemy import Connection, Engine, TextClause, text

from monitor.core.model import Mark, Verdict
from monitor.privacy.retention import CutOff
from monitor.store.audit_queue import hold_sealing
from monitor.store.database import advisory_lock, retriable
from monitor.store.interaction.partitions import PARTITIONED
from monitor.store.pending.call_off import call_off
from monitor.store.privacy.quotations import blank_gone, hold_alerting
from monitor.store.privacy.retention_acts import queue_retention
from monitor.store.report.reports import blank_reported

RETENTION_LOCK = 7_305_106
BATCH = 5_000  # interactions of one transaction
OVERDUE = timedelta(days=2)  # since when a row has been stored and due that earlier rounds should have removed
DEFAULT = "default"
_PART = re.compile(r"interaction_(?P<name>[0-9]{4}_[0-9]{2}|default)")
_APPS = text("""
    WITH RECURSIVE known AS (
        (SELECT app FROM interaction ORDER BY app LIMIT 1)
        UNION ALL
        SELECT (SELECT app FROM interaction WHERE app > known.app ORDER BY app LIMIT 1)
        FROM known WHERE known.app IS NOT NULL
    )
    SELECT app FROM known WHERE app IS NOT NULL
""")
_PARTS = text("SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'interaction'::regclass ORDER BY 1")
_CUT = """
    unnest(CAST(:cut_apps AS text[]), CAST(:cut_verdicts AS text[]), CAST(:cut_times AS timestamptz[]))
        AS cut (app, verdict, before)
"""
_JUDGED = """
    interaction_{part} i
    LEFT JOIN assessment_{part} a ON a.app = i.app AND a.id = i.id AND a.occurred_at = i.occurred_at AND a.live
"""
# The age of an answer from a wrong clock is that of its row, if the answer claims to be from later.
_AT = f"""
    CASE WHEN '{Mark.TIME_OUT_OF_RANGE}' = ANY (i.marks) THEN least(i.occurred_at, i.stored_at) ELSE i.occurred_at END
"""
_COUNT = """
    SELECT i.app, coalesce(a.verdict, '') AS verdict, cut.before, count(*) AS stored,
        count(*) FILTER (WHERE {at} < cut.before) AS due,
        count(*) FILTER (WHERE greatest({at}, i.stored_at) < cut.before - CAST(:overdue AS interval)) AS overdue
    FROM {rows} LEFT JOIN {cut} ON cut.app = i.app AND cut.verdict = coalesce(a.verdict, '')
    GROUP BY 1, 2, 3 ORDER BY 1, 2
"""
_PAGE = """
    SELECT i.app, i.id, i.occurred_at, i.source_topic, i.source_partition, cut.verdict, cut.before
    FROM {rows} JOIN {cut} ON cut.app = i.app AND cut.verdict = coalesce(a.verdict, '')
    WHERE {at} < cut.before AND (i.app, i.id) > (:after_app, :after_id)
    ORDER BY i.app, i.id LIMIT :most FOR UPDATE OF i
"""
_WITH_IT = (
    "UPDATE review t SET note = NULL FROM {gone} WHERE t.app = gone.app AND t.interaction_id = gone.id AND note <> ''",
    "DELETE FROM audit_secret t USING {gone} WHERE t.app = gone.app AND t.id = gone.id",
    "DELETE FROM feedback t USING {gone} WHERE t.app = gone.app AND t.interaction_id = gone.id",
    """
        INSERT INTO retention_count (topic, partition, interactions)
        SELECT gone.source_topic, gone.source_partition, count(*) FROM {gone} WHERE gone.source_topic IS NOT NULL
        GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (topic, partition) DO UPDATE SET interactions = retention_count.interactions + excluded.interactions
    """,
)
_GONE = """
    unnest(
        CAST(:apps AS text[]), CAST(:ids AS text[]), CAST(:times AS timestamptz[]),
        CAST(:topics AS text[]), CAST(:partitions AS integer[])
    ) AS gone (app, id, occurred_at, source_topic, source_partition)
"""
_ROWS = """
    DELETE FROM {table} t USING {gone} WHERE t.app = gone.app AND t.id = gone.id AND t.occurred_at = gone.occurred_at
"""
# For all apps that had a key: of rows that were removed one by one only the keys are left.
_FORGET = text("""
    WITH gone AS (DELETE FROM interaction_key WHERE month = :month RETURNING app)
    INSERT INTO retention_month (app, month, dropped_at) SELECT DISTINCT app, CAST(:month AS date), :now FROM gone
    ON CONFLICT DO NOTHING
""")
_TABLES = text("SELECT name FROM unnest(CAST(:names AS text[])) AS name WHERE to_regclass(name) IS NOT NULL")
# The interactions that reports show and that are gone.
_REPORTED = text("""
    SELECT DISTINCT r.app, said.id
    FROM report r CROSS JOIN LATERAL (SELECT jsonb_path_query(r.content, '$.*[*].id') #>> '{}' AS id) said
    WHERE NOT EXISTS (SELECT FROM interaction i WHERE i.app = r.app AND i.id = said.id)
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class DueRows:
    """How many of the `stored` interactions of an app and verdict, in one partition of the table, are `due` to go.

    `overdue` ones have been due, and stored, for `OVERDUE` already. `month` is None for the default partition,
    `verdict` without an assessment, and `before` where all are kept.
    """

    app: str
    verdict: Verdict | None
    month: date | None
    before: datetime | None
    stored: int
    due: int
    overdue: int = 0


class Retention:
    """Counts and removes; every method may raise `Retriable`, and may be called again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def holding(self) -> AbstractContextManager[bool]:
        """Tries to be the only process that removes, for the block; yields whether it is."""
        return advisory_lock(self._engine, RETENTION_LOCK)

    def clock(self) -> datetime:
        """The time by the clock of the database."""
        with retriable(), self._engine.connect() as connection:
            now: datetime = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
            return now

    def stored(self) -> tuple[int, datetime | None]:
        """How many interactions are stored, and when the newest was; reads all of them."""
        with retriable(), self._engine.connect() as connection:
            number, newest = connection.execute(text("SELECT count(*), max(stored_at) FROM interaction")).one()
            return number, newest

    def apps(self) -> list[str]:
        """The apps with stored interactions."""
        with retriable(), self._engine.connect() as connection:
            return list(connection.scalars(_APPS))

    def parts(self, cut_offs: Sequence[CutOff]) -> list[date | None]:
        """The months in which something may be due, oldest first, and last None for the default partition."""
        latest = max((cut.before for cut in cut_offs), default=None)
        if latest is None:
            return []
        with retriable(), self._engine.connect() as connection:
            names = [match["name"] for name in connection.scalars(_PARTS) if (match := _PART.fullmatch(name))]
        months = sorted(_month(name) for name in names if name != DEFAULT)
        return [*(month for month in months if _start(month) < latest), None]

    def due(self, month: date | None, cut_offs: Sequence[CutOff]) -> list[DueRows]:
        """What is stored in a month, and how much of it is due."""
        with retriable(), self._engine.connect() as connection:
            return _due(connection, month, cut_offs)

    def drop(self, month: date, cut_offs: Sequence[CutOff], *, by: str, now: datetime) -> list[DueRows]:
        """Drops a month in one transaction if all of it is due; returns what it held, or nothing if it stays."""
        part = _name(month)
        with retriable(), self._engine.connect() as connection, connection.begin() as begun:
            connection.execute(text("SET LOCAL lock_timeout = '5s'"))
            hold_sealing(connection)
            tables, gone = _tables(connection, part), f"interaction_{part} gone"
            if tables:  # before the tables are locked: it locks ledgers, and who stores locks these first
                call_off(connection, gone=gone, app="gone.app", values={})
            for table in tables.values():
                connection.execute(text(f"LOCK TABLE {table} IN EXCLUSIVE MODE"))
            found = _due(connection, month, cut_offs)
            if not found or any(rows.due < rows.stored for rows in found):
                begun.rollback()
                return []
            connection.execute(_FORGET, {"month": month, "now": now})  # first: who stores feedback holds its key
            _with_them(connection, gone, {})
            queue_retention(connection, found, cut_offs, by=by, now=now)
            for table in tables.values():  # last, because it locks everybody out until the transaction ends
                connection.execute(text(f"DROP TABLE {table}"))
        return found

    def remove(
        self, month: date | None, cut_offs: Sequence[CutOff], after: tuple[str, str], *, by: str, now: datetime
    ) -> tuple[list[DueRows], tuple[str, str]]:
        """Removes the next `BATCH` due interactions, by app and id, in one transaction.

        Returns what was removed, and the key of the last one: `after` of the next batch. The first has ("", "").
        """
        part = DEFAULT if month is None else _name(month)
        with retriable(), self._engine.begin() as connection:
            connection.execute(text("SET LOCAL lock_timeout = '5s'"))
            hold_sealing(connection)
            tables = _tables(connection, part)
            page = _statement(_PAGE, part)
            values = {**_cuts(cut_offs), "after_app": after[0], "after_id": after[1], "most": BATCH}
            rows = connection.execute(page, values).all() if tables else ()
            if not rows:
                return [], after
            gone: dict[str, object] = {
                "apps": [row.app for row in rows],
                "ids": [row.id for row in rows],
                "times": [row.occurred_at for row in rows],
                "topics": [row.source_topic for row in rows],
                "partitions": [row.source_partition for row in rows],
            }
            call_off(connection, gone=_GONE, app="gone.app", values=gone)
            _with_them(connection, _GONE, gone)
            for table in reversed(tables.values()):
                connection.execute(text(_ROWS.format(table=table, gone=_GONE)), gone)
            numbers = Counter((row.app, row.verdict, row.before) for row in rows)
            found = [
                DueRows(app=app, verdict=_verdict(verdict), month=month, before=before, stored=number, due=number)
                for (app, verdict, before), number in numbers.items()
            ]
            queue_retention(connection, found, cut_offs, by=by, now=now)
        return found, (rows[-1].app, rows[-1].id)

    def blank_quotations(self) -> None:
        """Blanks what alerts and reports quote of interactions that are no longer stored or were erased."""
        with retriable(), self._engine.begin() as connection:
            hold_alerting(connection)
            blank_gone(connection)
            missing = [(row.app, row.id) for row in connection.execute(_REPORTED)]
            for app in sorted({app for app, _ in missing}):
                blank_reported(connection, app, {id_ for of, id_ in missing if of == app})


def _with_them(connection: Connection, gone: str, values: Mapping[str, object]) -> None:
    """Removes what belongs to the interactions of `gone`, and counts these for the ledger.

    Their pending work was called off before, so that a worker on it has stored its result; it may have queued more.
    """
    for statement in _WITH_IT:
        connection.execute(text(statement.format(gone=gone)), values)
    call_off(connection, gone=gone, app="gone.app", values=values)


def _statement(template: str, part: str) -> TextClause:
    return text(template.format(at=_AT, rows=_JUDGED.format(part=part), cut=_CUT))


def _due(connection: Connection, month: date | None, cut_offs: Sequence[CutOff]) -> list[DueRows]:
    part = DEFAULT if month is None else _name(month)
    if not _tables(connection, part):
        return []
    return [
        DueRows(
            app=row.app,
            verdict=_verdict(row.verdict),
            month=month,
            before=row.before,
            stored=row.stored,
            due=row.due,
            overdue=row.overdue,
        )
        for row in connection.execute(_statement(_COUNT, part), {**_cuts(cut_offs), "overdue": OVERDUE})
    ]


def _tables(connection: Connection, part: str) -> dict[str, str]:
    """The existing partitions of a part, by their table.

    There are none after an attempt that dropped them and whose answer was lost; a month from before there were
    judgements has two.
    """
    wanted = {f"{table}_{part}": table for table in PARTITIONED}
    return {wanted[name]: name for name in connection.scalars(_TABLES, {"names": list(wanted)})}


def _cuts(cut_offs: Sequence[CutOff]) -> dict[str, object]:
    return {
        "cut_apps": [cut.app for cut in cut_offs],
        "cut_verdicts": ["" if cut.verdict is None else cut.verdict.value for cut in cut_offs],
        "cut_times": [cut.before for cut in cut_offs],
    }


def _verdict(name: str) -> Verdict | None:
    return Verdict(name) if name else None


def _name(month: date) -> str:
    return f"{month:%Y_%m}"


def _month(name: str) -> date:
    year, month = name.split("_")
    return date(int(year), int(month), 1)


def _start(month: date) -> datetime:
    return datetime(month.year, month.month, 1, tzinfo=UTC)
