"""Writes a batch in one transaction: keys decide what is new, COPY stores it, then rollups, dead letters and ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, TypeAlias

import psycopg
from typing_extensions import override

from monitor.core.errors import Fatal, Fenced, Retriable
from monitor.core.message import DeadLetter, Position
from monitor.core.model import Assessment, Batch, Interaction, Tally, Work
from monitor.core.ports import Store
from monitor.store.audit_queue import Kind, queue_rows
from monitor.store.database import copy_rows, end_halted, plain_url, retriable
from monitor.store.interaction.partitions import Partitions, claim_keys
from monitor.store.interaction.rescore import add_assessments
from monitor.store.interaction.rollup import CountedAssessment, LabelCap, prepare, write_ingest, write_rollup
from monitor.store.interaction.rows import (
    ASSESSMENT_COLUMNS,
    INTERACTION_COLUMNS,
    assessment_row,
    dead_letter_row,
    interaction_row,
    key,
)
from monitor.store.ledger.offsets import advance, count, reached

# A lock or a network that does not come back becomes `Retriable`, so that a stop is noticed in the meantime. The server
# ends a transaction whose process was stopped or cut off, because others wait for the rows that it holds.
_PATIENCE: dict[str, Any] = {
    "connect_timeout": 10,
    "tcp_user_timeout": 30_000,
    "options": "-c timezone=UTC -c lock_timeout=10s -c statement_timeout=20s"
    " -c idle_in_transaction_session_timeout=10s",
}
GROUP = "monitor"  # the group of offsets that do not belong to a consumer group of Kafka
_ENQUEUE = """
    INSERT INTO pending (kind, app, interaction_id, occurred_at, group_id, queued_at, not_before)
    SELECT kind, app, id, occurred_at, %(group)s, %(now)s, %(now)s
    FROM unnest(%(kinds)s::text[], %(apps)s::text[], %(ids)s::text[], %(times)s::timestamptz[])
      AS wanted (kind, app, id, occurred_at)
    WHERE kind <> 'judge' OR NOT EXISTS (
        SELECT FROM judgement j WHERE j.app = wanted.app AND j.id = wanted.id AND j.occurred_at = wanted.occurred_at
    )
    ON CONFLICT DO NOTHING
"""
_DEAD = """
    INSERT INTO dead_letter (topic, partition, position, received_at, key, header_names, header_values,
                             value, size, digest, path, problem, group_id)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (topic, partition, position, digest) DO NOTHING RETURNING id
"""

FollowUps: TypeAlias = Callable[[Assessment], Iterable[Work]]  # the work to queue for a new assessment


class Writer(Store):
    """The `Store` port on PostgreSQL. For one thread; a lost connection is opened anew on the next write.

    Offsets and ledger belong to `group`. `rescore` is the hash of a profile: the writer then only adds assessments
    beside the live ones, and leaves interactions that are not stored yet pending; it writes no interaction, rollup or
    dead letter. `follow_ups` names the work to queue for a newly assessed interaction.
    """

    def __init__(
        self,
        url: str,
        now: Callable[[], datetime],
        *,
        group: str = GROUP,
        rescore: str = "",
        follow_ups: FollowUps = lambda _: (),
    ) -> None:
        self._url = plain_url(url)
        self._now = now
        self._group = group
        self._rescore = rescore
        self._follow_ups = follow_ups
        self._connection: psycopg.Connection | None = None
        self._partitions = Partitions()
        self._labels = LabelCap()
        self._unsure: Batch | None = None  # the batch whose last write failed, perhaps after its commit

    @override
    def write(self, batch: Batch) -> Tally:
        try:
            with retriable():
                try:
                    tally = self._write(batch)
                except Fenced:
                    if batch is not self._unsure:
                        raise
                    tally = self._write(batch)  # perhaps its own commit came through just before
        except BaseException as error:
            self._unsure = batch
            self._forget()
            if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                self._end_halted()
            raise
        self._unsure = None
        return tally

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Connection]:
        """A transaction for `keep` and for what must be stored along with it; an error rolls all of it back.

        Raises:
            Retriable: the database is out of reach; nothing was stored, unless only the answer to the commit was lost.
        """
        try:
            with retriable():
                connection = self._connected()
                with connection.transaction():
                    yield connection
        except BaseException:
            self._forget()
            raise

    def close(self) -> None:
        """Closes the connection; an open transaction is rolled back."""
        if self._connection is not None:
            self._connection.close()

    def _forget(self) -> None:
        """Forgets partitions and labels after a rollback, which may have undone them."""
        self._partitions.forget()
        self._labels.forget()

    def _end_halted(self) -> None:
        with suppress(Retriable, Fatal), retriable():  # the write is retried in any case
            end_halted(self._connected())

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            connection = psycopg.connect(self._url, **_PATIENCE)
            try:
                with connection.transaction():
                    prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _write(self, batch: Batch) -> Tally:
        connection = self._connected()
        with connection.transaction():
            if batch is self._unsure and reached(connection, self._group, batch.offsets):
                stored = len(batch.assessments) + len(batch.pending)
                return Tally(received=batch.received, duplicate=stored, dead=len(batch.dead_letters))
            advance(connection, self._group, batch.offsets, profile_hash=self._rescore)
            letters = sorted((letter.message.position for letter in batch.dead_letters), key=_place)
            pending: Sequence[Interaction]
            if self._rescore:
                new, unknown = add_assessments(connection, batch.assessments)
                self.queue_to_seal(connection, new)
                pending = [a.interaction for a in unknown]
                buried = frozenset(range(len(letters)))  # the live group has stored them
            else:
                new = self.keep(connection, batch.assessments)
                pending = self._keep_pending(connection, batch.pending)
                buried = _bury(connection, self._group, batch.dead_letters)
            interactions = [*(a.interaction for a in batch.assessments), *batch.pending]
            known = _others(interactions, [*(a.interaction for a in new), *pending])
            count(
                connection,
                self._group,
                batch.offsets,
                (
                    ("assessed", (a.interaction.position for a in new)),
                    ("duplicate", (interaction.position for interaction in known)),
                    ("pending", (interaction.position for interaction in pending)),
                    # a letter that is stored already was counted as dead by the group that read it first
                    ("dead", (at for i, at in enumerate(letters) if i in buried)),
                    ("duplicate", (at for i, at in enumerate(letters) if i not in buried)),
                ),
            )
            if not self._rescore:
                read = [*(at for interaction in interactions if (at := interaction.position) is not None), *letters]
                dead = (at for i, at in enumerate(letters) if i in buried)
                write_ingest(connection, self._now(), read, dead, self._labels)
        return Tally(
            received=batch.received,
            assessed=len(new),
            duplicate=len(known),
            dead=len(batch.dead_letters),
            pending=len(pending),
        )

    def keep(self, connection: psycopg.Connection, assessments: Sequence[Assessment]) -> list[Assessment]:
        """Stores the assessments whose interaction is new, updates the rollup, and returns them."""
        new_by_identity = {
            id(interaction): interaction
            for interaction in self._keep_new(connection, [a.interaction for a in assessments])
        }
        new = [a for a in assessments if new_by_identity.pop(id(a.interaction), None) is not None]
        self._add(connection, new)
        queue_rows(connection, Kind.INTERACTION, map(_to_seal, sorted(new, key=key)), self._now())
        return new

    def add(self, connection: psycopg.Connection, assessments: Sequence[Assessment]) -> None:
        """Stores assessments of interactions that have none, updates the rollup, and queues their follow-ups."""
        self._add(connection, assessments)
        self.queue_to_seal(connection, assessments)

    def _add(self, connection: psycopg.Connection, assessments: Sequence[Assessment]) -> None:
        if not assessments:
            return
        ordered = sorted(assessments, key=key)
        copy_rows(connection, "assessment", ASSESSMENT_COLUMNS, [assessment_row(a) for a in ordered])
        write_rollup(connection, ordered, self._labels)
        self.follow_up(connection, ordered)

    def queue_to_seal(self, connection: psycopg.Connection, assessments: Sequence[Assessment]) -> None:
        """Queues assessments that were stored or revised for the audit trail."""
        if assessments:
            queue_rows(connection, Kind.ASSESSMENT, map(_to_seal, sorted(assessments, key=key)), self._now())

    def follow_up(self, connection: psycopg.Connection, assessments: Sequence[Assessment]) -> None:
        """Queues the follow-up work of assessments."""
        work = [(kind, a.interaction) for a in assessments for kind in self._follow_ups(a)]
        enqueue(connection, self._group, self._now(), work)

    def recount(
        self, connection: psycopg.Connection, before: Sequence[CountedAssessment], after: Sequence[Assessment]
    ) -> None:
        """Puts `after` into the rollup in place of `before`."""
        write_rollup(connection, after, self._labels, instead_of=before)

    def _keep_pending(self, connection: psycopg.Connection, interactions: Sequence[Interaction]) -> list[Interaction]:
        new = self._keep_new(connection, interactions)
        to_seal = ((interaction.app, interaction.id, "") for interaction in new)
        queue_rows(connection, Kind.INTERACTION, to_seal, self._now())
        enqueue(connection, self._group, self._now(), [(Work.ASSESS, interaction) for interaction in new])
        return new

    def _keep_new(self, connection: psycopg.Connection, interactions: Sequence[Interaction]) -> list[Interaction]:
        new = claim_keys(connection, sorted(interactions, key=lambda interaction: (interaction.app, interaction.id)))
        if new:
            self._partitions.ensure(connection, new)
            stored_at = self._now()
            rows = [interaction_row(interaction, stored_at) for interaction in new]
            copy_rows(connection, "interaction", INTERACTION_COLUMNS, rows)
        return new


def enqueue(
    connection: psycopg.Connection, group: str, now: datetime, wanted: Sequence[tuple[Work, Interaction]]
) -> None:
    """Queues work, each kind once per interaction; a judged interaction is not judged again."""
    if not wanted:
        return
    interactions = [interaction for _, interaction in wanted]
    connection.execute(
        _ENQUEUE,
        {
            "group": group,
            "now": now,
            "kinds": [str(kind) for kind, _ in wanted],
            "apps": [interaction.app for interaction in interactions],
            "ids": [interaction.id for interaction in interactions],
            "times": [interaction.occurred_at for interaction in interactions],
        },
    )


def _to_seal(assessment: Assessment) -> tuple[str, str, str]:
    return *key(assessment), assessment.profile_hash


def _others(interactions: Sequence[Interaction], settled: Sequence[Interaction]) -> list[Interaction]:
    """The interactions that are not among the settled ones; the same object may occur several times."""
    left, others = Counter(map(id, settled)), []
    for interaction in interactions:
        if left[id(interaction)]:
            left[id(interaction)] -= 1
        else:
            others.append(interaction)
    return others


def _bury(connection: psycopg.Connection, group: str, letters: Sequence[DeadLetter]) -> frozenset[int]:
    """Stores dead letters, each once; returns the indices of the new ones, in the order of positions."""
    if not letters:
        return frozenset()
    # two groups may write the same letters
    letters = sorted(letters, key=lambda letter: _place(letter.message.position))
    with connection.cursor() as cursor:
        cursor.executemany(_DEAD, [dead_letter_row(letter, group) for letter in letters], returning=True)
        return frozenset(i for i, result in enumerate(cursor.results()) if result.fetchone() is not None)


def _place(at: Position) -> tuple[str, int, int]:
    return at.topic, at.partition, at.offset
