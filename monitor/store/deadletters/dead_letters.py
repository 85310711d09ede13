"""Reads, settles and purges dead letters, and keeps the ledger in step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Engine, RowMapping, case, func, or_, select

from monitor.core.assessment_json import storable
from monitor.core.errors import WHOLE, problem_at
from monitor.core.message import DeadLetter, Message, Position, Skip
from monitor.core.model import Assessment, Interaction
from monitor.core.trace import Collected
from monitor.store.database import retriable
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.ledger import of_topic
from monitor.store.ledger.offsets import Account, add_counts, lock_ledgers
from monitor.store.tables.ledger import dead_letter

NO_GROUP = ""  # the group of a letter that no ledger counts
_d = dead_letter.c
_SETTLING = """
    SELECT id FROM dead_letter WHERE id = ANY(%s) AND settled_at IS NULL ORDER BY id FOR UPDATE SKIP LOCKED
"""
_PURGING = """
    SELECT group_id, topic, partition, settled_at IS NULL FROM dead_letter WHERE id = ANY(%s) ORDER BY id FOR UPDATE
"""
_SETTLED = "UPDATE dead_letter SET settled_at = %s, outcome = %s WHERE id = ANY(%s)"
_STILL_DEAD = "UPDATE dead_letter SET path = %s, problem = %s WHERE id = %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFilter:
    """Selects dead letters by every field that is not None.

    `problem` is a part of `path: problem`, or of how `problem_at` words it. `received_at` is in [since, until), and
    `open` is False for letters that a retry has settled.
    """

    ids: tuple[int, ...] | None = None
    topic: str | None = None
    problem: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    open: bool | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The conditions in SQL, all of which must hold."""
        found: list[ColumnElement[bool]] = []
        if self.ids is not None:
            found.append(_d.id.in_(self.ids))
        if self.topic is not None:
            found.append(of_topic(_d.topic, self.topic))
        if self.problem is not None:
            worded = case((_d.path == WHOLE, problem_at(WHOLE, "") + _d.problem), else_="")
            written = _d.path + ": " + _d.problem
            found.append(or_(*(each.icontains(self.problem, autoescape=True) for each in (written, worded))))
        if self.since is not None:
            found.append(_d.received_at >= self.since)
        if self.until is not None:
            found.append(_d.received_at < self.until)
        if self.open is not None:
            found.append(_d.settled_at.is_(None) if self.open else _d.settled_at.is_not(None))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLetter:
    """An open dead letter: the original message, and the group whose ledger counts it."""

    id: int
    group: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterCount:
    """How many dead letters there are, how many are open, and their highest id, 0 where there are none."""

    total: int
    open: int
    last: int


class DeadLetters:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def count(self, wanted: LetterFilter) -> LetterCount:
        is_open = func.count().filter(_d.settled_at.is_(None))
        query = select(func.count(), is_open, func.coalesce(func.max(_d.id), 0)).where(*wanted.conditions())
        with retriable(), self._engine.connect() as connection:
            total, opened, last = connection.execute(query).one()
        return LetterCount(total=total, open=opened, last=last)

    def known(self, ids: Sequence[int]) -> set[int]:
        """Those of `ids` that exist."""
        with retriable(), self._engine.connect() as connection:
            return set(connection.scalars(select(_d.id).where(_d.id.in_(ids))))

    def newest(self, wanted: LetterFilter, most: int) -> list[Mapping[str, Any]]:
        """The newest letters that match, each with the first bytes of its message."""
        columns = [_d.id, _d.received_at, _d.group_id, _d.topic, _d.partition, _d.position, _d.path, _d.problem]
        columns += [_d.size, _d.settled_at, _d.outcome]
        begins = func.substr(_d.value, 1, 200).label("begins")
        query = select(*columns, begins).where(*wanted.conditions()).order_by(_d.id.desc()).limit(most)
        with retriable(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def whole(self, number: int) -> Mapping[str, Any] | None:
        """All columns of a letter; None where it does not exist."""
        with retriable(), self._engine.connect() as connection:
            row = connection.execute(select(*_d).where(_d.id == number)).mappings().one_or_none()
        return None if row is None else dict(row)

    def page(self, wanted: LetterFilter, *, after: int, last: int, most: int, most_bytes: int) -> list[int]:
        """The next ids in (after, last] that match, oldest first: at least one within the limits, none at the end."""
        length = func.octet_length(_d.value)
        query = select(_d.id, length).where(*wanted.conditions(), _d.id > after, _d.id <= last)
        ids, size = list[int](), 0
        with retriable(), self._engine.connect() as connection:
            for number, more in connection.execute(query.order_by(_d.id).limit(most)):
                size += more
                if ids and size > most_bytes:
                    break
                ids.append(number)
        return ids

    def open_letters(self, ids: Sequence[int]) -> list[StoredLetter]:
        """The open letters among `ids`, oldest first."""
        query = select(*_d).where(_d.id.in_(ids), _d.settled_at.is_(None)).order_by(_d.id)
        with retriable(), self._engine.connect() as connection:
            return [_letter(row) for row in connection.execute(query).mappings()]


def settle(
    writer: Writer,
    alive: Sequence[tuple[StoredLetter, Assessment | Interaction]],
    dead: Sequence[tuple[StoredLetter, DeadLetter]],
    now: datetime,
    *,
    held: Sequence[tuple[StoredLetter, Collected]] = (),
) -> Counter[str]:
    """Stores the results of a retry in one transaction; returns how many letters have which outcome.

    These are `assessed`, `unscored` (for an interaction without an assessment), `duplicate`, `collected` (of the `held`
    letters, which hold spans or several turns, and count as skipped from then on) and `dead`. An interaction is stored
    like a live one, and its letter is settled; a letter that is still dead gets its new problem. Letters that are
    settled already, or that another process is settling, are in none of the counts.

    Raises:
        Retriable: the database is out of reach for now; a second call settles nothing twice.
    """
    with writer.transaction() as connection:
        wanted = [letter.id for letter, _ in (*alive, *dead, *held)]
        ours = {number for (number,) in connection.execute(_SETTLING, (wanted,))}
        alive = [(letter, _to_store(letter, a)) for letter, a in alive if letter.id in ours]
        held = [(letter, collected) for letter, collected in held if letter.id in ours]
        lock_ledgers(connection, [_account(letter) for letter, _ in (*alive, *held)])
        assessed = writer.keep(connection, [a for _, a in alive if isinstance(a, Assessment)])
        unscored = writer.keep_unscored(connection, [it for _, it in alive if isinstance(it, Interaction)])
        new = {**{id(a): "assessed" for a in assessed}, **{id(it): "unscored" for it in unscored}}
        outcomes = {letter.id: new.get(id(one), "duplicate") for letter, one in alive}
        outcomes |= {letter.id: Skip.COLLECTED.value for letter, _ in held}
        moves: dict[Account, Counter[str]] = {_account(letter): Counter() for letter, _ in (*alive, *held)}
        for letter, _ in alive:
            moves[_account(letter)].update({"dead": -1, outcomes[letter.id]: 1})
        for letter, _ in held:  # what is skipped was not received
            moves[_account(letter)].update({"dead": -1, "received": -1, Skip.COLLECTED.value: 1})
        add_counts(connection, moves)
        counts = Counter(outcomes.values())
        with connection.cursor() as cursor:
            for name in counts:
                cursor.execute(_SETTLED, (now, name, [number for number, o in outcomes.items() if o == name]))
            still = [
                (storable(why.path), storable(why.problem), letter.id) for letter, why in dead if letter.id in ours
            ]
            cursor.executemany(_STILL_DEAD, still)
        writer.collect(connection, [collected for _, collected in held])
        counts["dead"] = len(still)
    return counts


def purge(writer: Writer, ids: Sequence[int]) -> tuple[int, int]:
    """Deletes letters in one transaction; returns how many there were, and how many of them were open.

    Raises:
        Retriable: the database is out of reach for now; a second call counts nothing twice.
    """
    with writer.transaction() as connection:
        rows = connection.execute(_PURGING, (ids,)).fetchall()
        purged = Counter((group, topic, partition) for group, topic, partition, is_open in rows if is_open)
        lock_ledgers(connection, list(purged))
        connection.execute("DELETE FROM dead_letter WHERE id = ANY(%s)", (ids,))
        add_counts(connection, {account: {"purged": number} for account, number in purged.items()})
    return len(rows), purged.total()


def _account(letter: StoredLetter) -> Account:
    return letter.group, letter.message.position.topic, letter.message.position.partition


def _to_store(letter: StoredLetter, alive: Assessment | Interaction) -> Assessment | Interaction:
    """What to store: without a position where no ledger counts the letter."""
    if letter.group != NO_GROUP:
        return alive
    if isinstance(alive, Interaction):
        return replace(alive, position=None)
    return replace(alive, interaction=replace(alive.interaction, position=None))


def _letter(row: RowMapping) -> StoredLetter:
    return StoredLetter(
        id=row["id"],
        group=row["group_id"],
        message=Message(
            value=bytes(row["value"]),
            position=Position(topic=row["topic"], partition=row["partition"], offset=row["position"]),
            received_at=row["received_at"],
            headers=tuple(zip(row["header_names"], map(bytes, row["header_values"]), strict=True)),
            key=None if row["key"] is None else bytes(row["key"]),
            size=row["size"],
        ),
    )
