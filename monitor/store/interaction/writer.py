"""Writes a batch in one transaction: keys decide what is new, COPY stores it, then rollups, dead letters and ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

import psycopg
from psycopg.pq import TransactionStatus
from typing_extensions import override

from monitor.audit.record import Row
from monitor.core.batch import Batch, Tally
from monitor.core.errors import Fatal, Fenced, Retriable
from monitor.core.model import Assessment, Interaction
from monitor.core.pending import Work
from monitor.core.ports import Store
from monitor.core.settings.collect import TraceLimits
from monitor.core.trace import Collected
from monitor.store.audit_queue import Entry, EntrySource, Kind
from monitor.store.audit_rows import Key, part_of, queued_record, queued_records, stored_row
from monitor.store.collect.keep import collect
from monitor.store.database import WRITER_SESSION, copy_rows, end_halted, plain_url, retriable
from monitor.store.interaction.feedback import keep_feedback
from monitor.store.interaction.follow_ups import FollowUps, Sends, enqueue, enqueue_to_send
from monitor.store.interaction.minute_sums import CountedAssessment
from monitor.store.interaction.new_interactions import keep_new, others
from monitor.store.interaction.partitions import Partitions
from monitor.store.interaction.rescore import add_assessments
from monitor.store.interaction.rollup import LabelCap, prepare, write_ingest, write_rollup
from monitor.store.interaction.rows import ASSESSMENT_COLUMNS, assessment_row, key
from monitor.store.interaction.turns.revision import lock_revised, revise
from monitor.store.interaction.turns.unscored_counts import count_unscored
from monitor.store.ledger.dead import bury, place
from monitor.store.ledger.offsets import advance, count, reached
from monitor.store.ledger.positions import statements

GROUP = "monitor"  # the group of offsets that do not belong to a consumer group of Kafka
_LIMITS = TraceLimits()


class Writer(Store):
    """The `Store` port on PostgreSQL. For one thread; a lost connection is opened anew on the next write.

    `queue_key` authenticates what it queues to be sealed. Offsets and ledger belong to `group`. `rescore` is the hash
    of a profile: the writer then only adds assessments beside the live ones, and leaves interactions that are not
    stored yet pending; it writes no interaction, rollup or dead letter. `follow_ups` names the work to queue for a
    newly assessed interaction, `sends` where its verdict goes, also when it is revised. `limits` bound the traces
    that it keeps.
    """

    def __init__(
        self,
        url: str,
        now: Callable[[], datetime],
        *,
        queue_key: bytes,
        group: str = GROUP,
        rescore: str = "",
        follow_ups: FollowUps = lambda _: (),
        limits: TraceLimits = _LIMITS,
        sends: Sends = lambda _: (),
    ) -> None:
        self._url = plain_url(url)
        self._now = now
        self._entries = EntrySource(queue_key)
        self.group = group
        self._rescore = rescore
        self._follow_ups = follow_ups
        self._limits = limits
        self._sends = sends
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
                    self._forget()
                    tally = self._write(batch)  # perhaps its own commit came through just before
        except BaseException as error:
            self._unsure = batch
            self._forget()
            if isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
                self._end_halted()
            raise
        self._unsure = None
        self._entries.stored()
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
        self._entries.stored()

    def close(self) -> None:
        """Closes the connection; an open transaction is rolled back."""
        if self._connection is not None:
            self._connection.close()

    def _forget(self) -> None:
        """Forgets, after a rollback, what it may have undone: partitions, labels, and the numbers of entries.

        A connection that the rollback did not leave idle goes too: one that is ended within `executemany` may stay in
        pipeline mode for ever, and psycopg takes it for an open one.
        """
        if self._connection is not None and self._connection.info.transaction_status != TransactionStatus.IDLE:
            self._connection.close()
        self._partitions.forget()
        self._labels.forget()
        self._entries = self._entries.next()

    def _end_halted(self) -> None:
        with suppress(Retriable, Fatal), retriable():  # the write is retried in any case
            end_halted(self._connected())

    def _connected(self) -> psycopg.Connection:
        if self._connection is None or self._connection.closed:
            connection = psycopg.connect(self._url, **WRITER_SESSION)
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
            if batch is self._unsure and reached(connection, self.group, batch.offsets):
                stored = len(batch.assessments) + len(batch.pending) + len(batch.unscored)
                return Tally(received=batch.received, duplicate=stored, dead=len(batch.dead_letters))
            interactions = [*(a.interaction for a in batch.assessments), *batch.pending, *batch.unscored]
            revising = [] if self._rescore else [it for it in interactions if it.revises]
            if revising:
                lock_revised(connection, self.group, revising, batch.offsets)
            advance(connection, self.group, batch.offsets, profile_hash=self._rescore)
            letters = sorted((letter.message.position for letter in batch.dead_letters), key=place)
            pending: Sequence[Interaction]
            unscored: Sequence[Interaction]
            if self._rescore:
                added = add_assessments(connection, batch.assessments)
                self.queue_to_seal(connection, Kind.ASSESSMENT, added.rows)
                new, pending, unscored = added.assessments, [a.interaction for a in added.unknown], batch.unscored
                buried = frozenset(range(len(letters)))  # the live group has stored them
            else:
                new = self.keep(connection, batch.assessments)
                pending = self._keep_unassessed(connection, batch.pending)
                enqueue(connection, self.group, self._now(), [(Work.ASSESS, interaction) for interaction in pending])
                unscored = self.keep_unscored(connection, batch.unscored)
                buried = bury(connection, self.group, batch.dead_letters)
            settled = [*(a.interaction for a in new), *pending, *unscored]
            known = others(interactions, settled)
            count(
                connection,
                self.group,
                batch.offsets,
                (
                    ("assessed", (a.interaction.position for a in new)),
                    ("duplicate", (interaction.position for interaction in known)),
                    ("pending", (interaction.position for interaction in pending)),
                    ("unscored", (interaction.position for interaction in unscored)),
                    # a letter that is stored already was counted as dead by the group that read it first
                    ("dead", (at for i, at in enumerate(letters) if i in buried)),
                    ("duplicate", (at for i, at in enumerate(letters) if i not in buried)),
                ),
            )
            if revising:
                revise(self, connection, batch, known, self._now())
            if not self._rescore:
                keep_feedback(connection, interactions, batch.collected, self._now())
                read = [*(at for interaction in interactions if (at := interaction.position) is not None), *letters]
                now = self._now()
                made = statements(self.group, batch.offsets, stored=settled, known=known, dead=letters, at=now)
                self._entries.queue(connection, made, now)  # behind the rows that it speaks of
                write_ingest(connection, now, read, (at for i, at in enumerate(letters) if i in buried), self._labels)
                self.collect(connection, batch.collected)
        return Tally(
            received=batch.received,
            assessed=len(new),
            duplicate=len(known),
            dead=len(batch.dead_letters),
            pending=len(pending),
            unscored=len(unscored),
        )

    def keep(self, connection: psycopg.Connection, assessments: Sequence[Assessment]) -> list[Assessment]:
        """Stores the assessments whose interaction is new, updates the rollup, and returns them."""
        kept = {
            id(one.interaction): one
            for one in keep_new(connection, self._partitions, [a.interaction for a in assessments], self._now())
        }
        both = [(a, one) for a in assessments if (one := kept.pop(id(a.interaction), None)) is not None]
        both.sort(key=lambda pair: key(pair[0]))
        rows = self._add(connection, [a for a, _ in both])
        entries = (
            Entry(
                Kind.INTERACTION,
                *key(a),
                a.profile_hash,
                f"{one.record}\n{queued_record(Kind.ASSESSMENT, row, one.secret)}",
            )
            for (a, one), row in zip(both, rows, strict=True)
        )
        self._entries.queue(connection, entries, self._now())
        return [a for a, _ in both]

    def add(self, connection: psycopg.Connection, assessments: Sequence[Assessment]) -> None:
        """Stores assessments of interactions that have none, updates the rollup, and queues their follow-ups."""
        if assessments:
            self.queue_to_seal(connection, Kind.ASSESSMENT, self._add(connection, sorted(assessments, key=key)))

    def _add(self, connection: psycopg.Connection, ordered: Sequence[Assessment]) -> list[Row]:
        """Stores assessments, which are in the order of their keys; returns the rows."""
        if not ordered:
            return []
        rows = [assessment_row(a) for a in ordered]
        copy_rows(connection, "assessment", ASSESSMENT_COLUMNS, rows)
        write_rollup(connection, ordered, self._labels)
        self.follow_up(connection, ordered)
        return [stored_row(Kind.ASSESSMENT, ASSESSMENT_COLUMNS, row) for row in rows]

    def collect(self, connection: psycopg.Connection, collected: Sequence[Collected]) -> None:
        """Keeps spans and events; the last act of a transaction, since its locks come after all others."""
        collect(connection, collected, self._limits, self._now())

    def queue_to_seal(
        self, connection: psycopg.Connection, kind: Kind, rows: Sequence[Row], revises: Mapping[Key, str] | None = None
    ) -> None:
        """Queues rows of stored interactions, as `stored_row` gives them, for the audit trail.

        `revises` names the record of the row that each of them replaced, as `record_digest` does.
        """
        records = queued_records(connection, kind, rows, revises or {})
        entries = (
            Entry(kind, row["app"], row["id"], part_of(kind, row), record)
            for row, record in zip(rows, records, strict=True)
        )
        self._entries.queue(connection, entries, self._now())

    def follow_up(self, connection: psycopg.Connection, assessments: Sequence[Assessment]) -> None:
        """Queues the follow-up work of assessments, which are new or revised."""
        work = [(kind, a.interaction) for a in assessments for kind in self._follow_ups(a)]
        enqueue(connection, self.group, self._now(), work)
        self.send_out(connection, [a.interaction for a in assessments])

    def send_out(self, connection: psycopg.Connection, interactions: Sequence[Interaction]) -> None:
        """Queues the verdicts of interactions to be sent out, or to be sent again as they are now."""
        work = [(kind, interaction) for interaction in interactions for kind in self._sends(interaction)]
        enqueue_to_send(connection, self.group, self._now(), work)

    def recount(
        self,
        connection: psycopg.Connection,
        before: Sequence[CountedAssessment],
        after: Sequence[Assessment | CountedAssessment],
    ) -> None:
        """Puts `after` into the rollup in place of `before`."""
        write_rollup(connection, after, self._labels, instead_of=before)

    def keep_unscored(self, connection: psycopg.Connection, turns: Sequence[Interaction]) -> list[Interaction]:
        """Stores the unscored turns that are new, counts them, and returns them."""
        kept = self._keep_unassessed(connection, turns)
        self.recount_unscored(connection, before=(), after=kept)
        return kept

    def recount_unscored(
        self, connection: psycopg.Connection, before: Sequence[Interaction], after: Sequence[Interaction]
    ) -> None:
        """Counts the unscored turns `after` in place of `before`."""
        count_unscored(connection, after, self._labels, instead_of=before)

    def _keep_unassessed(self, connection: psycopg.Connection, turns: Sequence[Interaction]) -> list[Interaction]:
        new = keep_new(connection, self._partitions, turns, self._now())
        entries = (Entry(Kind.INTERACTION, one.interaction.app, one.interaction.id, "", one.record) for one in new)
        self._entries.queue(connection, entries, self._now())
        return [one.interaction for one in new]
