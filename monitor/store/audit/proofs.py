"""Leaves with their proofs against the last checkpoint, and what opens their commitments."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, select, text

from monitor.audit.export import ConsistencyProof, ExportedRecord
from monitor.audit.merkle import consistency_proof, inclusion_proof
from monitor.audit.note import NotProved, opened
from monitor.core.model import Json
from monitor.store.audit.acts import told_acts
from monitor.store.audit.differences import Accounts, accounts_of
from monitor.store.audit.range_checks import occurred
from monitor.store.audit.row_state import stored_rows
from monitor.store.audit.rows import Leaf
from monitor.store.audit.seal import driver
from monitor.store.audit.tree import stored_tree
from monitor.store.audit_queue import STORED, Act, Kind, queue_act
from monitor.store.database import retriable
from monitor.store.tables.interactions import profile

if TYPE_CHECKING:
    import psycopg

    from monitor.audit.merkle import Node

_COLUMNS = "index, kind, app, subject, part, sealed_at, body, hash"
_LAST = "SELECT size, note, made_at FROM audit_checkpoint ORDER BY size DESC LIMIT 1"
_ABOUT = f"SELECT {_COLUMNS} FROM audit_leaf WHERE subject = %s AND (%s::text IS NULL OR app = %s) ORDER BY index"  # noqa: S608
_UP_TO = f"""
    SELECT {_COLUMNS} FROM audit_leaf WHERE index < %s AND (%s::text IS NULL OR app IN ('', %s)) ORDER BY index
"""  # noqa: S608
_DAYS_LAST = """
    SELECT DISTINCT ON (made_at::date) size, note FROM audit_checkpoint
    WHERE size > %s AND size <= %s ORDER BY made_at::date, size DESC
"""
_WAITING = text("SELECT count(*), min(queued_at) FROM audit_queue WHERE kind <> 'missing'")
_MISSING = text("SELECT EXISTS (SELECT FROM audit_queue WHERE kind = 'missing')")
_SIZE = text("SELECT coalesce(max(index) + 1, 0) FROM audit_leaf")
_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How far sealing is: leaves, the last checkpoint, and what waits."""

    size: int
    signed: int
    signed_at: datetime | None
    waiting: int
    waiting_since: datetime | None
    backfilling: bool


class Proofs:
    """Reads the trail for those who want it proved; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def status(self) -> Status:
        """As it is now."""
        with retriable(), self._engine.connect() as connection:
            last = driver(connection).execute(_LAST).fetchone()
            waiting, since = connection.execute(_WAITING).one()
            return Status(
                size=connection.scalar(_SIZE) or 0, signed=last[0] if last else 0, signed_at=last[2] if last else None,
                waiting=waiting, waiting_since=since, backfilling=bool(connection.scalar(_MISSING)),
            )  # fmt: skip

    def told(self, *acts: Act) -> None:
        """Queues what somebody does with the trail."""
        with retriable(), self._engine.begin() as connection:
            for act in acts:
                queue_act(connection, act)

    @contextmanager
    def reading(self) -> Iterator[Proved]:
        """The trail under its last checkpoint, in one snapshot.

        Raises:
            NotProved: nothing is signed yet.
        """
        with retriable(), self._engine.connect() as connection, connection.begin():
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            raw = driver(connection)
            last = raw.execute(_LAST).fetchone()
            if last is None:
                raise NotProved("no checkpoint is signed yet: run `monitor audit seal`")
            profiles = {row["hash"]: dict(row) for row in connection.execute(select(profile)).mappings()}
            rules = [
                (index, body) for index, _, _, _, body in told_acts(connection, (Kind.RULES,)) if index is not None
            ]
            yield Proved(
                raw=raw, size=last[0], note=last[1], node=stored_tree(raw).node,
                profiles={hash_: _definition(row) for hash_, row in profiles.items()},
                rules=[body for index, body in rules if index < last[0]],
                accounts=cache(lambda: accounts_of(told_acts(connection, (Kind.ERASURE, Kind.RETENTION)))),
            )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """A trail of `size` leaves under the checkpoint `note`, with the profiles and sets of rules that it tells of."""

    raw: psycopg.Connection
    size: int
    note: str
    node: Node
    profiles: dict[str, dict[str, Json]]
    rules: list[dict[str, Any]]
    accounts: Callable[[], Accounts]  # for what is not stored as it was sealed

    def about(self, id_: str, app: str | None, *, disclose: bool) -> list[ExportedRecord]:
        """The leaves about an interaction, or anything else of that id."""
        leaves = [Leaf(*row) for row in self.raw.execute(_ABOUT, (id_, app, app)) if row[0] < self.size]
        return list(self._records(leaves, disclose=disclose))

    def between(self, app: str | None, start: datetime, end: datetime, *, disclose: bool) -> Iterator[ExportedRecord]:
        """The leaves of interactions that occurred in [start, end), and of acts of that time; by index."""
        with self.raw.cursor("audit_leaves") as cursor:
            cursor.itersize = _PAGE
            cursor.execute(_UP_TO, (self.size, app, app))
            leaves = (leaf for row in cursor if _within(leaf := Leaf(*row), start, end))
            while page := list(islice(leaves, _PAGE)):
                yield from self._records(page, disclose=disclose)

    def checkpoints(self, first: int, key: str) -> list[tuple[int, str]]:
        """The last one of each day of those that hold the leaf `first` and that the key signed."""
        rows = self.raw.execute(_DAYS_LAST, (first, self.size)).fetchall()
        return [(size, note) for size, note in rows if _opens(note, key)]

    def consistency(self, sizes: Sequence[int]) -> list[ConsistencyProof]:
        """From each of these sizes to the next."""
        return [
            ConsistencyProof(old=old, new=new, proof=consistency_proof(old, new, self.node))
            for old, new in pairwise(sizes)
        ]

    def _records(self, leaves: Sequence[Leaf], *, disclose: bool) -> Iterator[ExportedRecord]:
        found = stored_rows(self.raw, leaves, self.accounts, disclose=disclose)
        for leaf in leaves:
            its, proof = found.get(leaf.number), inclusion_proof(leaf.number, self.size, self.node)
            yield ExportedRecord(
                index=leaf.number, body=leaf.body, proof=proof, disclosed=its.disclosed if its else None,
                stored=its.stored if its else None, differs=its.differs if its else (),
            )  # fmt: skip


def _definition(row: dict[str, Any]) -> dict[str, Json]:
    return {name: row[name] for name in ("name", "embedding_model", "definition")}


def _within(leaf: Leaf, start: datetime, end: datetime) -> bool:
    at = occurred(leaf.body) if leaf.kind in STORED else None
    return start <= (at or leaf.sealed_at) < end


def _opens(note: str, key: str) -> bool:
    try:
        opened(note, key)
    except NotProved:
        return False
    return True
