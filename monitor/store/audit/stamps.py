"""The stored time stamps of checkpoints, and the checkpoints that they are of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, select
from sqlalchemy.dialects.postgresql import distinct_on, insert

from monitor.audit.stamp import Stamp, StampKind
from monitor.store.audit.checkpoints import StoredCheckpoint, last_checkpoint
from monitor.store.audit_queue import driver
from monitor.store.database import retriable
from monitor.store.tables.audit import audit_checkpoint, audit_stamp

if TYPE_CHECKING:
    import psycopg

_s, _c = audit_stamp.c, audit_checkpoint.c
_KEY = ("size", "witness")
_OF = """
    SELECT size, witness, kind, token, obtained_at, stamped_at, complete FROM audit_stamp
    WHERE size = ANY(%s) ORDER BY size, witness
"""


class Stamps:
    """Reads and writes; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def last_checkpoint(self) -> StoredCheckpoint | None:
        """The checkpoint of most leaves."""
        with retriable(), self._engine.connect() as connection:
            return last_checkpoint(driver(connection))

    def keep(self, stamp: Stamp) -> None:
        """Stores a time stamp, in the place of one that this witness gave for the same checkpoint."""
        values = {name: getattr(stamp, name) for name in Stamp.__slots__}
        query = insert(audit_stamp).values(values)
        others = {name: value for name, value in values.items() if name not in _KEY}
        with retriable(), self._engine.begin() as connection:
            connection.execute(query.on_conflict_do_update(index_elements=_KEY, set_=others))

    def newest(self, witness: str | None = None) -> list[tuple[Stamp, str]]:
        """The time stamp that each witness, or this one, gave last, with the note of its checkpoint."""
        query = self._with_notes().ext(distinct_on(_s.witness)).order_by(_s.witness, _s.size.desc())
        return self._read(query if witness is None else query.where(_s.witness == witness))

    def incomplete(self, witness: str, *, since: datetime) -> list[tuple[Stamp, str]]:
        """Those of a witness that are not complete, of what it gave from `since` on, oldest first."""
        wanted = (_s.witness == witness, ~_s.complete, _s.obtained_at >= since)
        return self._read(self._with_notes().where(*wanted).order_by(_s.size))

    def all(self) -> list[tuple[Stamp, str | None]]:
        """Every one of them, in the order of their checkpoints; without a note where no such checkpoint is stored."""
        return self._read(self._with_notes(isouter=True).order_by(_s.size, _s.witness))

    @staticmethod
    def _with_notes(*, isouter: bool = False) -> Any:
        return select(audit_stamp, _c.note).join(audit_checkpoint, _c.size == _s.size, isouter=isouter)

    def _read(self, query: Any) -> list[tuple[Stamp, Any]]:
        with retriable(), self._engine.connect() as connection:
            return [(_stamp(*row[:-1]), row[-1]) for row in connection.execute(query)]


def stamps_of(raw: psycopg.Connection, sizes: Sequence[int]) -> list[Stamp]:
    """The time stamps of the checkpoints of these sizes, in their order."""
    return [_stamp(*row) for row in raw.execute(_OF, (list(sizes),))]


def _stamp(*values: Any) -> Stamp:
    found = dict(zip(Stamp.__slots__, values, strict=True))
    return Stamp(**{**found, "kind": StampKind(found["kind"]), "token": bytes(found["token"])})
