"""Moves messages in the ledger from one outcome to another, when what was stored of them is revised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitor.core.message import Position
from monitor.store.ledger.offsets import Account, add_counts

if TYPE_CHECKING:
    import psycopg

_OUTCOMES = ("assessed", "pending", "unscored")
_LEDGERS = """
    SELECT group_id, topic, partition, assessed, pending, unscored FROM consumer_offset
    JOIN (SELECT DISTINCT * FROM unnest(%s::text[], %s::integer[]) AS p (topic, partition)) p USING (topic, partition)
    WHERE live
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A message `at` a position, None for that of no ledger, that `was` one outcome and `becomes` another.

    `group` is that whose ledger counts it, if it is known; another one that has read the partition may count it too.
    """

    at: Position | None
    was: str
    becomes: str
    group: str


def move_outcomes(connection: psycopg.Connection, moves: Sequence[Move]) -> list[str]:
    """Moves each message in the ledger that counts it, and returns the group of each ledger.

    Where several groups have read a partition, nothing says which of them stored the message: the named group comes
    first, then any that counts such an outcome, so that each ledger and the recount of all of them balance.
    """
    places = [(at.topic, at.partition) for move in moves if (at := move.at) is not None]
    counts = ledgers_of(connection, places)
    changes: dict[Account, Counter[str]] = {account: Counter() for account in counts}
    groups = []
    for move in moves:
        of = None if move.at is None else (move.at.topic, move.at.partition)
        may = [account for account, count in counts.items() if account[1:] == of and count[move.was] > 0]
        account = min(may, key=lambda account: (account[0] != move.group, account[0]), default=None)
        groups.append(move.group if account is None else account[0])
        if account is not None:
            for counted in (counts[account], changes[account]):
                counted[move.was] -= 1
                counted[move.becomes] += 1
    add_counts(connection, changes)
    return groups


def ledgers_of(connection: psycopg.Connection, places: Sequence[tuple[str, int]]) -> dict[Account, Counter[str]]:
    """The outcomes that the live groups count in these partitions, by group, topic and partition."""
    columns = ([topic for topic, _ in places], [number for _, number in places])
    rows = connection.execute(_LEDGERS, columns).fetchall()
    return {(row[0], row[1], row[2]): Counter(dict(zip(_OUTCOMES, row[3:], strict=True))) for row in rows}
