"""Seals queued rows and acts as leaves, with the tiles that they complete and the secrets they need; signs checkpoints.

Each batch is one transaction under an advisory lock: one replica seals at a time, and a row leaves the queue in the
transaction that stores its leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection, Engine, func, select

from monitor.audit.commitment import new_secret
from monitor.audit.merkle import frontier_of, leaf_hash
from monitor.audit.note import Checkpoint, NotProved, Signer, opened, signed
from monitor.audit.record import Record, Row, act_record
from monitor.core.errors import Fatal
from monitor.core.model import Mark
from monitor.store.audit.backfill import queue_missing
from monitor.store.audit.leaf import Key, leaf_body
from monitor.store.audit.rows import SECRET, gone_record, read_rows, row_record, states
from monitor.store.audit.tree import TreeEdge, stored_tree, tree_size
from monitor.store.audit_queue import SEAL_LOCK, STORED, Kind
from monitor.store.database import copy_rows, retriable

if TYPE_CHECKING:
    import psycopg

BATCH = 1_000  # rows of the queue; some become two leaves
LEAF_COLUMNS = ("index", "kind", "app", "subject", "part", "sealed_at", "body", "hash")
_TAKE = """
    DELETE FROM audit_queue WHERE seq IN (SELECT seq FROM audit_queue WHERE kind <> 'missing' ORDER BY seq LIMIT %s)
    RETURNING seq, kind, app, subject, part, body
"""
_LAST = "SELECT size, root, note FROM audit_checkpoint ORDER BY size DESC LIMIT 1"
_SEALED_AT = "SELECT sealed_at FROM audit_leaf WHERE index = %s"
_SIGN = "INSERT INTO audit_checkpoint (size, root, note, made_at) VALUES (%s, %s, %s, %s)"


class QueuedRow(NamedTuple):
    """A row of `audit_queue`."""

    seq: int
    kind: str  # a `Kind`, perhaps one of a later release
    app: str
    subject: str
    part: str
    body: dict[str, Any] | None

    @property
    def key(self) -> Key:
        """The key of the stored row that it names."""
        return self.app, self.subject, self.part


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedBatch:
    """How many leaves a batch added, and whether there may be more to seal."""

    leaves: int
    more: bool


class Sealing:
    """The sealer's side of the database; every method may raise `Retriable`. For one thread."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._edge: TreeEdge | None = None

    def seal_batch(self, now: datetime) -> SealedBatch | None:
        """Seals up to `BATCH` rows of the queue in its order; None while another replica seals.

        Raises:
            Fatal: the stored tree is not the one that was signed; nothing is sealed on top of it.
        """
        with self._alone() as connection:
            if connection is None:
                return None
            raw = driver(connection)
            taken = sorted((QueuedRow(*row) for row in raw.execute(_TAKE, (BATCH,))), key=lambda row: row.seq)
            if queue := _leaves(taken):
                self._append(raw, queue, _bodies(raw, queue, now), now)
            looked = len(taken) < BATCH and queue_missing(connection, now)
        return SealedBatch(leaves=len(queue), more=bool(taken) or looked)

    def checkpoint(self, signer: Signer, previous_keys: Sequence[str] = ()) -> str | None:
        """Signs the tree if it has grown since the last checkpoint, and returns the note; None if it has not.

        The checkpoint has the time at which its last leaf was sealed, which the leaf says too.

        Raises:
            Fatal: as in `seal_batch`; or none of these keys signed the last checkpoint.
        """
        with self._alone() as connection:
            if connection is None:
                return None
            raw = driver(connection)
            size, last = tree_size(raw), raw.execute(_LAST).fetchone()
            if size == (last[0] if last else 0):
                return None
            if last is not None:
                _check_signer(last[2], (signer.verifier_key, *previous_keys))
            root = self._current_edge(raw).frontier.root
            note = signed(Checkpoint(origin=signer.name, size=size, root=root), signer)
            (made_at,) = raw.execute(_SEALED_AT, (size - 1,)).fetchone() or (None,)
            raw.execute(_SIGN, (size, root, note, made_at))
        return note

    def last_note(self) -> str | None:
        """The note of the newest checkpoint."""
        with retriable(), self._engine.connect() as connection:
            row = driver(connection).execute(_LAST).fetchone()
        return None if row is None else str(row[2])

    def _append(
        self, raw: psycopg.Connection, queue: Sequence[QueuedRow], bodies: Sequence[bytes], now: datetime
    ) -> None:
        edge = self._current_edge(raw)
        start, hashes = edge.frontier.size, [leaf_hash(body) for body in bodies]
        rows = ((start + at, row.kind, *row.key, now, bodies[at].decode(), hashes[at]) for at, row in enumerate(queue))
        copy_rows(raw, "audit_leaf", LEAF_COLUMNS, rows)
        edge.append(raw, hashes)

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


def opened_by(note: str, keys: Sequence[str]) -> Checkpoint:
    """The checkpoint of a note that one of the public keys signed.

    Raises:
        NotProved: none of them signed it; the message is about the first key.
    """
    problem: NotProved | None = None
    for key in keys:
        try:
            return opened(note, key)
        except NotProved as error:
            problem = problem or error
    raise problem or NotProved("there is no key to check the checkpoint with")


def driver(connection: Connection) -> psycopg.Connection:
    """The psycopg connection below, in the same transaction."""
    return connection.connection.driver_connection  # type: ignore[return-value]


def _leaves(queue: Sequence[QueuedRow]) -> list[QueuedRow]:
    """One row for each leaf: an interaction with its assessment gives two, a stored row that is named again none."""
    seen: set[tuple[str, Key]] = set()
    kept = []
    for row in chain.from_iterable(map(_split, queue)):
        if row.kind in STORED:
            if (row.kind, row.key) in seen:
                continue
            seen.add((row.kind, row.key))
        kept.append(row)
    return kept


def _split(row: QueuedRow) -> Iterator[QueuedRow]:
    if row.kind == Kind.INTERACTION and row.part:
        yield row._replace(part="")
        yield row._replace(kind=Kind.ASSESSMENT)
    else:
        yield row


def _bodies(raw: psycopg.Connection, queue: Sequence[QueuedRow], now: datetime) -> list[bytes]:
    stored = [row for row in queue if row.kind in STORED]
    found: dict[str, Mapping[Key, Row]] = {
        kind: read_rows(raw, kind, [row.key for row in stored if row.kind == kind]) for kind in STORED
    }
    secrets = _secrets(raw, {(row.app, row.subject) for row in stored}, found[Kind.INTERACTION])

    def record(queued: QueuedRow) -> Record:
        if queued.kind not in STORED:
            return act_record(kind=queued.kind, app=queued.app, subject=queued.subject, body=queued.body or {})
        row, secret = found[queued.kind].get(queued.key), secrets.get((queued.app, queued.subject))
        if row is None or secret is None:
            return gone_record(queued.kind, queued.key)
        return row_record(queued.kind, row, secret)

    return [leaf_body(record(queued), now) for queued in queue]


def _secrets(
    raw: psycopg.Connection, interactions: set[tuple[str, str]], read: Mapping[Key, Row]
) -> dict[tuple[str, str], bytes]:
    """The secret of each interaction that is stored and not erased; makes secrets for those that have none.

    `read` holds the rows of `interaction` that were read already.
    """
    known = {(app, id_): row[SECRET] for (app, id_, _), row in read.items() if Mark.ERASED not in row["marks"]}
    others = states(raw, interactions - {(app, id_) for app, id_, _ in read})
    known |= {key: state.secret for key, state in others.items() if not state.erased}
    made = {key: new_secret() for key, secret in known.items() if secret is None}
    if made:
        copy_rows(raw, "audit_secret", ("app", "id", "secret"), ((*key, secret) for key, secret in made.items()))
    return made | {key: bytes(secret) for key, secret in known.items() if secret is not None}


def _check_signer(note: str, keys: Sequence[str]) -> None:
    try:
        opened_by(note, keys)
    except NotProved as error:
        raise Fatal(
            f"the last checkpoint was signed by another key: {error}. Give every replica the same "
            "MONITOR_AUDIT__KEY_FILE; after a change of keys, name the old public key in MONITOR_AUDIT__PREVIOUS_KEYS"
        ) from None


def check_signed(raw: psycopg.Connection) -> None:
    """Checks that the last checkpoint fits the stored tree: a changed tree must not be signed again."""
    last = raw.execute(_LAST).fetchone()
    if last is None:
        return
    size, root, _ = last
    if size > tree_size(raw) or frontier_of(size, stored_tree(raw).node).root != bytes(root):
        raise Fatal(
            f"the audit trail is not the one whose {size} leaves were signed last; nothing is sealed on top of it. "
            "`monitor audit verify` names what was changed"
        )
