"""Reads the ledger: the outcomes of each partition's messages, as they were counted and as the rows show them."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import Column, ColumnElement, Connection, Engine, RowMapping, Text, func, or_, select, text

from monitor.core.message import Skip
from monitor.store.database import retriable
from monitor.store.tables.interactions import OTHER
from monitor.store.tables.ledger import LEDGER, consumer_offset

LONGEST_SOURCE = 400
_FILE = re.compile(r"#\d+-[0-9a-f]{16}\Z")  # what the topic of a followed file has behind its path

# An interaction counts in the partition of its message, assessed or not; a dead letter in that of its group's ledger,
# and nowhere where its group is ''.
_RECOUNT = text("""
    WITH said AS (
        SELECT topic, partition, sum(assessed)::bigint AS assessed, sum(pending)::bigint AS pending,
               sum(unscored)::bigint AS unscored,
               sum(dead - purged)::bigint AS dead
        FROM consumer_offset WHERE live AND topic = ANY(:topics) GROUP BY topic, partition
    ), kept AS (
        SELECT source_topic AS topic, source_partition AS partition, count(*) AS interactions
        FROM interaction WHERE source_topic = ANY(:topics) GROUP BY source_topic, source_partition
    ), gone AS (
        SELECT topic, partition, interactions AS removed FROM retention_count WHERE topic = ANY(:topics)
    ), open AS (
        SELECT topic, partition, count(*) AS letters
        FROM dead_letter WHERE settled_at IS NULL AND group_id <> '' AND topic = ANY(:topics) GROUP BY topic, partition
    )
    SELECT topic, partition, assessed, pending, unscored, coalesce(interactions, 0) AS interactions,
           coalesce(removed, 0) AS removed, dead, coalesce(letters, 0) AS letters
    FROM said LEFT JOIN kept USING (topic, partition) LEFT JOIN gone USING (topic, partition)
        LEFT JOIN open USING (topic, partition)
    ORDER BY topic, partition
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """The outcomes of the messages of one partition that one group read. `live` is False for a rescore's group.

    `spanned` is the number of offsets that the reader passed, 0 where offsets are bytes of a file; `purged` is the
    number of `dead` ones that are no longer stored.
    """

    group: str
    topic: str
    partition: int
    live: bool
    next_offset: int
    counts: Mapping[str, int]  # by the names of LEDGER

    @property
    def unaccounted(self) -> int:
        """How many received messages have no outcome; negative where some have several."""
        c = self.counts
        return c["received"] - c["assessed"] - c["duplicate"] - c["dead"] - c["pending"] - c["unscored"]

    @property
    def unread(self) -> int:
        """How many offsets were neither received nor skipped, where offsets count messages."""
        c = self.counts
        skipped = sum(c[skip] for skip in Skip)
        bytewise = not c["spanned"] and skipped == c[Skip.COLLECTED]
        return 0 if bytewise else c["spanned"] - c["received"] - skipped

    @property
    def balanced(self) -> bool:
        """Whether every offset and every message is accounted for."""
        return self.unaccounted == self.unread == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recount:
    """The ledgers of all live groups for one partition, compared with the stored rows.

    `assessed` + `pending` + `unscored` must equal `interactions` + those that retention has `removed`; `dead`, without
    purged ones, must equal the open `letters`.
    """

    topic: str
    partition: int
    assessed: int
    pending: int
    interactions: int
    dead: int
    letters: int
    removed: int = 0
    unscored: int = 0

    @property
    def balanced(self) -> bool:
        """Whether there are as many rows as were counted."""
        counted = self.assessed + self.pending + self.unscored
        return counted == self.interactions + self.removed and self.dead == self.letters


class Ledger:
    """Reads; `read` may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def read(
        self, *, group: str | None = None, topic: str | None = None, recount: bool = False
    ) -> tuple[list[LedgerRow], list[Recount]]:
        """The rows of a group and topic, or of all, and with `recount` a recount of their partitions.

        Both are of the same moment. The recount reads every interaction, and covers all groups, whatever `group` is.
        """
        c = consumer_offset.c
        query = select(*c).order_by(c.group_id, c.topic, c.partition)
        if group is not None:
            query = query.where(c.group_id == group)
        if topic is not None:
            query = query.where(of_topic(c.topic, topic))
        with retriable(), self._engine.connect() as opened:
            connection = opened.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            rows = [_row(found) for found in connection.execute(query).mappings()]
            recounted = _recounted(connection, {(row.topic, row.partition) for row in rows}) if recount else []
        return rows, recounted


def source_of(topic: str) -> str:
    """What messages of a topic are counted under: the Kafka topic, or the path of the followed file."""
    path = _FILE.sub("", topic)
    return path if len(path) <= LONGEST_SOURCE else OTHER


def of_topic(column: Column[str], topic: str) -> ColumnElement[bool]:
    """The condition for a topic of that name; a followed file matches by its path alone too."""
    path = func.regexp_replace(column, "#[^#]*$", "", type_=Text)
    return or_(column == topic, path == topic)


def _row(found: RowMapping) -> LedgerRow:
    return LedgerRow(
        group=found["group_id"],
        topic=found["topic"],
        partition=found["partition"],
        live=found["live"],
        next_offset=found["next_offset"],
        counts={name: found[name] for name in LEDGER},
    )


def _recounted(connection: Connection, partitions: Collection[tuple[str, int]]) -> list[Recount]:
    topics = sorted({topic for topic, _ in partitions})
    found = connection.execute(_RECOUNT, {"topics": topics}).mappings()
    return [Recount(**row) for row in found if (row["topic"], row["partition"]) in partitions]
