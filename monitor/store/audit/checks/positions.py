"""Checks the statements of completeness.

A gap between two of them is a finding, and so is an offset that was stored and is in no leaf, or that counts as a
duplicate of an answer in no leaf.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import Connection, Engine, select

from monitor.audit.finding import Fault, Finding
from monitor.core.model import Json
from monitor.store.audit.checks.accounts import Accounts
from monitor.store.audit.leaf import revises
from monitor.store.audit.statements import NO_STATEMENT, UNSTATED, Reading, reading_of, statement_bodies
from monitor.store.audit_queue import Act, Kind, driver, known_queue_key, queue_act
from monitor.store.database import retriable
from monitor.store.tables.ledger import consumer_offset

Runs: TypeAlias = Sequence[tuple[int, int]]  # of offsets, first and last
Partition: TypeAlias = tuple[str, int]
# In canonical form these three stand next to one another, and no text of a body can hold their quotes.
_POSITION = re.compile(r',"source_offset":(\d+),"source_partition":(\d+),"source_topic":("(?:[^"\\]|\\.)*")')
_LOOKED_UP = 1_000  # duplicates at a time
_IN_NO_LEAF = """
    SELECT w.place FROM unnest(%s::integer[], %s::text[], %s::text[]) AS w (place, app, id)
    WHERE NOT EXISTS (
        SELECT FROM audit_leaf l WHERE l.app = w.app AND l.subject = w.id AND l.kind = 'interaction'
    ) AND NOT EXISTS (
        SELECT FROM audit_queue q WHERE q.app = w.app AND q.subject = w.id AND q.kind = 'interaction'
    )
"""


@dataclass(slots=True, kw_only=True)
class CoveredPartition:
    """What all statements of a reading say of the offsets in [first, next) together.

    `gaps` are in no statement; `unstated` are those that somebody has accounted for: first, next, who and when.
    """

    group: str
    topic: str
    partition: int
    topic_id: str
    first: int
    next: int
    statements: int = 0
    stored: int = 0
    duplicate: int = 0
    dead: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    unstated: list[tuple[int, int, str, str]] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class PositionCheck:
    covered: list[CoveredPartition] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def check_positions(
    connection: Connection, key: bytes | None, sealed: Mapping[Partition, Runs] | None, accounts: Accounts
) -> PositionCheck:
    """Checks every statement; `sealed` holds the positions of all leaves of interactions, None where some are unread.

    With the `key`, statements that wait to be sealed count for what was read.
    """
    checked, read = PositionCheck(), _Statements()
    duplicates: list[tuple[Reading, tuple[int, str, str, str]]] = []
    replayed: Counter[tuple[str, ...]] = Counter()
    for index, body in statement_bodies(connection, key):
        try:
            if "files" in body:
                names = tuple(sorted({str(file["name"]) for file in body["files"]}))
                replayed[names] += 0 if index is None else int(body["stored"])
                continue
            reading = read.add(index, body)
            duplicates += [
                (reading, (int(offset), _storable(app), _storable(id_), str(month)))
                for offset, app, id_, month in body.get("duplicate", ())
            ]
        except NO_STATEMENT:
            continue  # the changed leaf is a finding of its own
        if len(duplicates) >= _LOOKED_UP:
            checked.findings += _never_stored(connection, duplicates, accounts)
            duplicates.clear()
    checked.findings += _never_stored(connection, duplicates, accounts)
    for reading, covered in sorted(read.covered.items()):
        covered.gaps = list(_gaps(read.spans[reading]))
        checked.covered.append(covered)
    if key is not None:
        _add_moved(connection, read.covered)
    for covered in checked.covered:
        checked.findings += (_gap(covered, first, end) for first, end in covered.gaps)
    if sealed is not None:
        for partition, runs in sorted(read.stored.items()):
            checked.findings += _in_no_leaf(partition, runs, sealed.get(partition, ()))
        checked.findings += _replayed_in_no_leaf(replayed, sealed)
    return checked


def state_gaps(engine: Engine, *, by: str, now: datetime) -> int:
    """Queues for each gap that nobody stated it; returns how many there are. May raise `Retriable`."""
    # a statement that is sealed meanwhile must be in one of the two places where it is looked for
    snapshots = engine.execution_options(isolation_level="REPEATABLE READ")
    with retriable(), snapshots.begin() as connection:
        found = check_positions(connection, known_queue_key(connection), None, Accounts()).covered
        gaps = [(its, *gap) for its in found for gap in its.gaps]
        for its, first, end in gaps:
            body: dict[str, Json] = {"group": its.group, "topic": its.topic, "partition": its.partition}
            body |= {"topic_id": its.topic_id, "first": first, "next": end, UNSTATED: True}
            act = Act(kind=Kind.POSITIONS, by=by, at=now, subject=f"{its.topic}/{its.partition}", body=body)
            queue_act(connection, act)
    return len(gaps)


@dataclass(slots=True)
class _Statements:
    """What was read of all statements."""

    covered: dict[Reading, CoveredPartition] = field(default_factory=dict)
    spans: defaultdict[Reading, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))
    stored: defaultdict[Partition, list[tuple[int, int]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, index: int | None, body: Mapping[str, Any]) -> Reading:
        """Adds a statement; `index` is that of its leaf, None while it waits."""
        reading = reading_of(body)
        ((first, end),) = _runs([(body["first"], body["next"])])
        unstated = bool(body.get(UNSTATED))
        runs = [] if unstated else _runs(run for its in body["stored"] for run in its["offsets"])
        dead = [] if unstated else _runs(body["dead"])
        skipped = Counter({} if unstated else {str(why): int(number) for why, number in body["skipped"].items()})
        duplicates = 0 if unstated else len(body["duplicate"])
        # from here on nothing raises: a statement that somebody has replaced counts whole or not at all
        named = reading._asdict()
        covered = self.covered.setdefault(reading, CoveredPartition(**named, first=first, next=end))
        self.spans[reading].append((first, end))
        covered.first, covered.next = min(covered.first, first), max(covered.next, end)
        if unstated:
            covered.unstated.append((first, end, str(body.get("by")), str(body.get("at"))))
            return reading
        covered.statements += 1
        covered.stored += _count(runs)
        covered.duplicate += duplicates
        covered.dead += _count(dead)
        covered.skipped.update(skipped)
        if index is not None:
            self.stored[reading.topic, reading.partition] += runs
        return reading


def _runs(runs: Iterable[Sequence[Any]]) -> list[tuple[int, int]]:
    """Pairs of offsets; raises TypeError or ValueError where they are none."""
    found = [(first, last) for first, last in runs]
    if any(type(offset) is not int for run in found for offset in run):
        raise TypeError("an offset is malformed")
    return found


def _count(runs: Iterable[Sequence[int]]) -> int:
    return sum(last - first + 1 for first, last in runs)


def _gaps(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The offsets between spans that are in none, as first and next."""
    reached: int | None = None
    for first, end in sorted(spans):
        if reached is not None and first > reached:
            yield reached, first
        reached = end if reached is None else max(reached, end)


def _storable(text: object) -> str:
    """A text as the database takes it; raises ValueError where it takes none, as with a character of 0."""
    made = str(text)
    if b"\0" in made.encode():
        raise ValueError("the database has no such text")
    return made


def _add_moved(connection: Connection, known: Mapping[Reading, CoveredPartition]) -> None:
    """Adds a gap where the stored offset is beyond the last statement: the next one will not begin where it ended."""
    o = consumer_offset.c
    query = select(o.group_id, o.topic, o.partition, o.topic_id, o.next_offset).where(o.live)
    for *reading, reached in connection.execute(query):
        covered = known.get(Reading(*reading))
        if covered is not None and reached > covered.next:
            covered.gaps.append((covered.next, reached))


def _in_no_leaf(partition: Partition, stated: Runs, sealed: Runs) -> Iterator[Finding]:
    """Finds offsets that statements call stored more often than leaves hold them."""
    steps = [*((first, 1) for first, _ in stated), *((last + 1, -1) for _, last in stated)]
    steps += [*((first, -1) for first, _ in sealed), *((last + 1, 1) for _, last in sealed)]
    missing, since = 0, -1
    for at, group in groupby(sorted(steps), key=itemgetter(0)):
        before, missing = missing, missing + sum(step for _, step in group)
        if before <= 0 < missing:
            since = at
        elif missing <= 0 < before:
            it, was = ("it", "it was") if at == since + 1 else ("them", "they were")
            stored = f"{_named(*partition, since, at)} stored"
            sentence = f"{stored}, and no leaf holds {it}: {was} taken out of the queue"
            yield Finding(fault=Fault.POSITIONS, sentence=sentence)


def _replayed_in_no_leaf(
    replayed: Mapping[tuple[str, ...], int], sealed: Mapping[Partition, Runs]
) -> Iterator[Finding]:
    """Finds files of which replays have stored more answers, by their names, than leaves hold."""
    for names, number in sorted(replayed.items()):
        held = sum(_count(sealed.get((name, 0), ())) for name in names)
        if number > held:
            said = f"replays of {', '.join(names)} stored {number} answers, and leaves hold {held} of them"
            yield Finding(fault=Fault.POSITIONS, sentence=said)


def _never_stored(
    connection: Connection, duplicates: Sequence[tuple[Reading, tuple[int, str, str, str]]], accounts: Accounts
) -> Iterator[Finding]:
    """Finds offsets that count as duplicates of interactions in no leaf, in no month that retention has closed."""
    columns = (list(range(len(duplicates))), [of[1] for _, of in duplicates], [of[2] for _, of in duplicates])
    for (place,) in driver(connection).execute(_IN_NO_LEAF, columns).fetchall():
        reading, (offset, app, id_, month) = duplicates[place]
        closed = {f"{scope.month:%Y-%m}" for scope in accounts.retentions.get(app, ()) if scope.month is not None}
        if month in closed:
            continue
        named = _named(reading.topic, reading.partition, offset, offset + 1)
        sentence = f"{named} called a duplicate of {id_} in {app}, which no leaf holds: it was kept from being stored"
        yield Finding(fault=Fault.POSITIONS, app=app, subject=id_, sentence=sentence)


def _gap(covered: CoveredPartition, first: int, end: int) -> Finding:
    by = f"{_named(covered.topic, covered.partition, first, end)} passed over by the group {covered.group}"
    it = "it" if end == first + 1 else "them"
    return Finding(fault=Fault.POSITIONS, sentence=f"{by}: no sealed statement says what became of {it}")


def _named(topic: str, partition: int, first: int, end: int) -> str:
    where = f"of {topic}/{partition}"
    return f"offset {first} {where} was" if end == first + 1 else f"offsets {first} to {end - 1} {where} were"


def position_of(body: str) -> tuple[str, int, int] | None:
    """Topic, partition and offset in the body of an interaction's leaf, without parsing all of it; None without one.

    A revision is of a position that another leaf has, so it has none of its own.
    """
    if revises(body):
        return None
    found = _POSITION.search(body)
    return None if found is None else (json.loads(found[3]), int(found[2]), int(found[1]))


def joined(offsets: Iterable[int]) -> list[tuple[int, int]]:
    """Runs of offsets; one that occurs twice is in two runs."""
    runs: list[tuple[int, int]] = []
    for offset in sorted(offsets):
        if runs and runs[-1][1] == offset - 1:
            runs[-1] = (runs[-1][0], offset)
        else:
            runs.append((offset, offset))
    return runs
