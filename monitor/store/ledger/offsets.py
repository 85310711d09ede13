"""Offsets and ledger counts: the writer moves them on in the batch's transaction, a consumer group reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from sqlalchemy import Engine, select
from sqlalchemy.dialects import postgresql
from typing_extensions import override

from monitor.core.errors import Fenced, WrongSettings
from monitor.core.message import Offset, Position, StoredOffset
from monitor.core.ports import GroupOffsets
from monitor.store.database import retriable
from monitor.store.tables.ledger import LEDGER, consumer_offset

if TYPE_CHECKING:
    import psycopg

_STORED = "SELECT next_offset FROM consumer_offset WHERE group_id = %s AND topic = %s AND partition = %s"
_FIRST = """
    INSERT INTO consumer_offset (next_offset, topic_id, group_id, topic, partition, live, profile_hash)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
_NEXT = """
    UPDATE consumer_offset SET next_offset = %s, topic_id = %s
    WHERE group_id = %s AND topic = %s AND partition = %s AND live = %s AND profile_hash = %s AND next_offset = %s
"""
_ADD_TEMPLATE = "UPDATE consumer_offset SET {counts} WHERE group_id = %s AND topic = %s AND partition = %s"
_ADD = _ADD_TEMPLATE.format(counts=", ".join(f"{name} = {name} + %s" for name in LEDGER))

# Locks the rows in the order of the writers and, like them, before anything else that another process may wait for.
_LEDGERS = """
    SELECT FROM consumer_offset
    JOIN unnest(%s::text[], %s::text[], %s::integer[]) AS wanted (group_id, topic, partition)
    USING (group_id, topic, partition)
    ORDER BY group_id COLLATE "C", topic COLLATE "C", partition FOR NO KEY UPDATE OF consumer_offset
"""
Account: TypeAlias = tuple[str, str, int]  # group, topic, partition
_o = consumer_offset.c


def advance(connection: psycopg.Connection, group: str, offsets: Sequence[Offset], *, profile_hash: str = "") -> None:
    """Moves the stored offsets on. This comes first, so that of two readers of a source only one stores anything.

    `profile_hash` is the profile of a rescore, '' for the live group.

    Raises:
        Fenced: a stored offset is not the expected one any more.
    """
    offsets = sorted(offsets, key=lambda o: (o.topic, o.partition))  # so that two writers never wait in a circle
    kind = (not profile_hash, profile_hash)
    first = [(o.next, o.topic_id, group, o.topic, o.partition, *kind) for o in offsets if o.expected is None]
    later = [
        (o.next, o.topic_id, group, o.topic, o.partition, *kind, o.expected) for o in offsets if o.expected is not None
    ]
    moved = 0
    with connection.cursor() as cursor:
        for statement, rows in ((_FIRST, first), (_NEXT, later)):
            if rows:
                cursor.executemany(statement, rows)
                moved += cursor.rowcount
    if moved != len(offsets):
        names = ", ".join(sorted({o.topic.rpartition("#")[0] or f"{o.topic}/{o.partition}" for o in offsets}))
        raise Fenced(f"{names}: another process reads it too, and is ahead")


def reached(connection: psycopg.Connection, group: str, offsets: Sequence[Offset]) -> bool:
    """Whether exactly these offsets are stored: the commit went through, and only its acknowledgement was lost."""
    stored = (connection.execute(_STORED, (group, o.topic, o.partition)).fetchone() for o in offsets)
    return bool(offsets) and all(row == (o.next,) for row, o in zip(stored, offsets, strict=True))


def count(
    connection: psycopg.Connection,
    group: str,
    offsets: Sequence[Offset],
    outcomes: Iterable[tuple[str, Iterable[Position | None]]],
) -> None:
    """Adds to the ledger of each partition: what its reader counted, and the outcome of each message.

    `outcomes` are positions under `assessed`, `duplicate`, `dead`, `pending` or `unscored`. Reader and writer count
    separately, one before and one after, so that a message lost in between shows as an imbalance.
    """
    became: dict[tuple[str, int], Counter[str]] = {(o.topic, o.partition): Counter() for o in offsets}
    for outcome, positions in outcomes:
        for at in positions:
            if at is not None and (at.topic, at.partition) in became:
                became[at.topic, at.partition][outcome] += 1
    for o in offsets:
        counts = became[o.topic, o.partition]
        counts["received"] = o.received
        counts["spanned"] = 0 if o.begin is None else o.next - o.begin
        counts.update({skip.value: number for skip, number in o.skipped.items()})
    add_counts(connection, {(group, *place): counts for place, counts in became.items()})


def add_counts(connection: psycopg.Connection, added: Mapping[Account, Mapping[str, int]]) -> None:
    """Adds to the counts of ledgers, by their names in `LEDGER`; takes away what is negative.

    A ledger that does not exist stays so. The caller holds their locks.
    """
    rows = [(*(counts.get(name, 0) for name in LEDGER), *account) for account, counts in sorted(added.items())]
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_ADD, rows)


def lock_ledgers(connection: psycopg.Connection, accounts: Iterable[Account]) -> None:
    """Locks the existing ledger rows of these accounts before they are changed."""
    columns = list(zip(*sorted(set(accounts)), strict=True)) or [(), (), ()]
    connection.execute(_LEDGERS, [list(column) for column in columns])


class ConsumerGroup(GroupOffsets):
    """The `GroupOffsets` port on PostgreSQL; every method may raise `Retriable`."""

    def __init__(self, engine: Engine, group: str) -> None:
        self._engine = engine
        self._group = group

    @override
    def stored(self) -> Mapping[tuple[str, int], StoredOffset]:
        query = select(_o.topic, _o.partition, _o.next_offset, _o.topic_id).where(_o.group_id == self._group)
        with retriable(), self._engine.connect() as connection:
            return {
                (topic, partition): StoredOffset(next=reached, topic_id=topic_id)
                for topic, partition, reached, topic_id in connection.execute(query)
            }

    @override
    def pin(self, offsets: Sequence[Offset]) -> None:
        rows = [
            {
                "group_id": self._group,
                "topic": o.topic,
                "partition": o.partition,
                "next_offset": o.next,
                "topic_id": o.topic_id,
            }
            for o in offsets
        ]
        if not rows:
            return
        with retriable(), self._engine.begin() as connection:
            connection.execute(postgresql.insert(consumer_offset).values(rows).on_conflict_do_nothing())

    def check(self, *, profile_hash: str = "") -> None:
        """Checks that the group is used for one purpose only: live verdicts, or a rescore under one profile.

        Raises:
            WrongSettings: the group was used for another purpose.
        """
        query = select(_o.topic, _o.profile_hash).where(_o.group_id == self._group, _o.profile_hash != profile_hash)
        with retriable(), self._engine.connect() as connection:
            other = connection.execute(query.limit(1)).one_or_none()
        if other is not None:
            used = f"a rescore under the profile {other.profile_hash}" if other.profile_hash else "live verdicts"
            raise WrongSettings(f"the group {self._group} was used for {used} of {other.topic}; name another --group")
