"""Seals what is queued as leaves, with the tiles that they complete; signs checkpoints.

Each batch is one transaction under an advisory lock: one replica seals at a time, and an entry leaves the queue in the
transaction that stores its leaf and signs it. So no leaf stands behind the last checkpoint, except one that somebody
else put there. An entry that no process with the key queued is never sealed: it stays in the queue, where `verify`
finds it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from pydantic_core import from_json
from sqlalchemy import Connection, Engine, func, select

from monitor.audit.key import Signer
from monitor.audit.note import NotProved
from monitor.audit.record import Record
from monitor.core.errors import Fatal
from monitor.store.audit.backfill import adopt, is_numbered, queue_missing
from monitor.store.audit.checkpoints import check_signed, last_checkpoint, opened_by, sign, signed_size
from monitor.store.audit.leaf import ENTRY, entry_name, leaf_body, leaf_part
from monitor.store.audit.tree import NewLeaf, TreeEdge, tree_size
from monitor.store.audit_queue import SEAL_LOCK, STORED, Entry, Kind, driver, is_authentic
from monitor.store.audit_rows import Key, gone_record, make_secrets, read_rows, row_record
from monitor.store.database import retriable

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)
BATCH = 1_000  # entries of the queue; some become two leaves
_TAKE = """
    SELECT seq, source, number, mac, kind, app, subject, part, records FROM audit_queue
    WHERE mac IS NOT NULL AND NOT refused ORDER BY seq LIMIT %s
"""
_DELETE = "DELETE FROM audit_queue WHERE seq = ANY(%s)"
_REFUSE = "UPDATE audit_queue SET refused = true WHERE seq = ANY(%s)"
_LOOK_AGAIN = "UPDATE audit_queue SET refused = false WHERE refused"
_SEALED_AT = "SELECT sealed_at FROM audit_leaf WHERE index = %s"


class QueuedEntry(NamedTuple):
    """An entry of the queue, under the source and number that make it unique."""

    entry: Entry
    source: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedBatch:
    """How many leaves a batch added, whether there may be more to seal, and the checkpoint if it added any."""

    leaves: int
    more: bool
    note: str | None = None


class Sealing:
    """The sealer's side of the database; every method may raise `Retriable`. For one thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._edge: TreeEdge | None = None
        self._numbered = False  # whether the newest leaves come from numbered entries
        self._looked_again = False  # at entries that a process refused before, or that somebody has marked so

    def seal_batch(self, now: datetime, signer: Signer, previous_keys: Sequence[str] = ()) -> SealedBatch | None:
        """Seals up to `BATCH` entries of the queue in their order, and signs; None while another replica seals.

        Only entries with the signer's key of the queue are taken. A trail that an earlier release sealed takes in,
        once, what that release had queued without a key.

        Raises:
            Fatal: the stored tree is not the one that was signed, or none of these keys signed it; nothing is sealed
                on top of it.
        """
        with self._alone() as connection:
            if connection is None:
                return None
            raw = driver(connection)
            if not self._numbered:
                self._numbered = self._has_numbers(raw)
                if not self._numbered:
                    adopt(connection, signer.queue_key, now)
            if not self._looked_again:
                raw.execute(_LOOK_AGAIN)
            taken, entries = _take(raw, signer.queue_key)
            if leaves := _leaves(raw, entries, now):
                self._current_edge(raw).append(raw, leaves, now)
            note = self._sign(raw, signer, previous_keys)
            for queued in entries:
                if queued.entry.kind == Kind.MISSING:
                    queue_missing(connection, signer.queue_key, now, queued.entry.records or "")
        self._looked_again = True
        return SealedBatch(leaves=len(leaves), more=taken > 0, note=note)

    def _sign(self, raw: psycopg.Connection, signer: Signer, previous_keys: Sequence[str]) -> str | None:
        """Signs the tree if it has grown since the last checkpoint, and returns the note; None if it has not.

        The checkpoint has the time at which its last leaf was sealed, which the leaf says too.
        """
        size, last = tree_size(raw), last_checkpoint(raw)
        if size == (last.size if last else 0):
            return None
        if last is not None:
            if last.size > size:
                check_signed(raw)  # raises: a checkpoint that somebody has added, or the end was cut off
            _check_signer(last.note, (signer.verifier_key, *previous_keys))
        (made_at,) = raw.execute(_SEALED_AT, (size - 1,)).fetchone() or (None,)
        return sign(raw, self._current_edge(raw).frontier, signer, made_at)

    def _has_numbers(self, raw: psycopg.Connection) -> bool:
        """As `is_numbered`, of a trail whose end is the one that was signed."""
        self._current_edge(raw)  # raises where the end of the trail was cut off
        return is_numbered(raw, signed_size(raw))

    def _current_edge(self, raw: psycopg.Connection) -> TreeEdge:
        """The right edge of the tree, read again where another replica has sealed meanwhile."""
        if self._edge is None or self._edge.frontier.size != tree_size(raw):
            check_signed(raw)
            self._edge = TreeEdge.read(raw)
        return self._edge

    @contextmanager
    def _alone(self) -> Iterator[Connection | None]:
        """A transaction with the sealer's lock; None while another process has it."""
        try:
            with retriable(), self._engine.begin() as connection:
                ours = connection.scalar(select(func.pg_try_advisory_xact_lock(SEAL_LOCK)))
                yield connection if ours else None
        except BaseException:
            self._edge = None  # what was appended in this transaction is not stored
            raise


def _take(raw: psycopg.Connection, queue_key: bytes) -> tuple[int, list[QueuedEntry]]:
    """Takes the next entries out of the queue: how many there were, and those that are authentic.

    The others stay in the queue as `refused`, so that this process does not look at them again.
    """
    own, others, entries = [], [], []
    taken = raw.execute(_TAKE, (BATCH,)).fetchall()
    for seq, source, number, mac, *rest in taken:
        entry = Entry(*rest)
        if is_authentic(queue_key, entry, source, number, mac):
            own.append(seq)
            entries.append(QueuedEntry(entry, source, number))
        else:
            others.append(seq)
            log.warning(
                "the %s of %r in %r waits to be sealed, but no process with the audit key queued it; it stays in the "
                "queue, and `monitor audit verify` names it",
                *(entry.kind, entry.subject, entry.app),
            )
    raw.execute(_DELETE, (own,))
    raw.execute(_REFUSE, (others,))
    return len(taken), entries


def _leaves(raw: psycopg.Connection, entries: Sequence[QueuedEntry], now: datetime) -> list[NewLeaf]:
    """The leaves of entries: one for each record."""
    read = iter(_records_of_rows(raw, [queued.entry for queued in entries if queued.entry.records is None]))
    leaves = []
    for queued in entries:
        entry = queued.entry
        records = next(read) if entry.records is None else list(map(from_json, entry.records.split("\n")))
        for number, record in enumerate(records, start=1):
            name = entry_name(queued.source, queued.number, number)
            body = leaf_body({**record, ENTRY: name}, now)
            leaves.append(NewLeaf(str(record["kind"]), (entry.app, entry.subject, leaf_part(record)), body))
    return leaves


def _records_of_rows(raw: psycopg.Connection, entries: Sequence[Entry]) -> list[list[Record]]:
    """The records of rows that entries only name, because an earlier release stored them."""
    named = [_names(entry) for entry in entries]
    keys = {kind: [key for names in named for of, key in names if of == kind] for kind in STORED}
    found = {kind: read_rows(raw, kind, keys[kind]) for kind in STORED}
    secrets = make_secrets(raw, {(entry.app, entry.subject) for entry in entries})

    def record(kind: Kind, key: Key) -> Record:
        row, secret = found[kind].get(key), secrets.get(key[:2])
        return gone_record(kind, key) if row is None or secret is None else row_record(kind, row, secret)

    return [[record(kind, key) for kind, key in names] for names in named]


def _names(entry: Entry) -> list[tuple[Kind, Key]]:
    """The rows that an entry stands for: an interaction with a part stands for its assessment too."""
    key = entry.app, entry.subject, entry.part
    if entry.kind == Kind.INTERACTION and entry.part:
        return [(Kind.INTERACTION, (entry.app, entry.subject, "")), (Kind.ASSESSMENT, key)]
    return [(Kind(entry.kind), key)]


def _check_signer(note: str, keys: Sequence[str]) -> None:
    try:
        opened_by(note, keys)
    except NotProved as error:
        raise Fatal(
            f"the last checkpoint was signed by another key: {error}. Give every replica the same "
            "MONITOR_AUDIT__KEY_FILE; after a change of keys, name the old public key in MONITOR_AUDIT__PREVIOUS_KEYS"
        ) from None
