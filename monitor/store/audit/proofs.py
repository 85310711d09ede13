"""How far the audit trail is sealed, and the snapshots of it that proofs and exports are read from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import Connection, Engine, select, text

from monitor.audit.note import NotProved
from monitor.audit.record import portable
from monitor.core.model import Json
from monitor.store.audit.acts import trail_acts
from monitor.store.audit.checks.accounts import read_accounts
from monitor.store.audit.snapshot import TrailSnapshot
from monitor.store.audit.tree import stored_tree, tree_size
from monitor.store.audit_queue import Act, Kind, driver, known_queue_key, queue_act
from monitor.store.database import TakesTooLong, limited_read, retriable
from monitor.store.tables.interactions import profile

_LAST = "SELECT size, note, made_at FROM audit_checkpoint ORDER BY size DESC LIMIT 1"
_WAITING = text("SELECT count(*), min(queued_at) FROM audit_queue WHERE kind <> 'missing'")
_TOO_MANY = "more rows wait to be sealed than can be counted in a second"
_MISSING = text("SELECT EXISTS (SELECT FROM audit_queue WHERE kind = 'missing')")


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How far sealing is: the leaves, the last checkpoint, and the rows that wait; None: too many to count in time."""

    size: int
    signed: int
    signed_at: datetime | None
    waiting: int | None
    waiting_since: datetime | None
    backfilling: bool


class Proofs:
    """Reads the trail for proofs and exports; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def status(self) -> Status:
        """Counts whatever waits, however long that takes."""
        with retriable(), self._engine.connect() as connection:
            return _status(connection, _queue(connection))

    def status_in_time(self) -> Status:
        """For a person who waits: the queue is counted for a second at most."""
        try:
            with limited_read(self._engine, _TOO_MANY) as connection:
                queue = _queue(connection)
        except TakesTooLong:
            queue = (None, None, False)
        with limited_read(self._engine, _TOO_MANY) as connection:
            return _status(connection, queue)

    def record(self, *acts: Act) -> None:
        """Queues acts on the trail itself: looks and exports."""
        with retriable(), self._engine.begin() as connection:
            for act in acts:
                queue_act(connection, act)

    @contextmanager
    def snapshot(self) -> Iterator[TrailSnapshot]:
        """The trail under its last checkpoint, in one snapshot of the database.

        Raises:
            NotProved: nothing is signed yet.
        """
        with retriable(), self._engine.connect() as connection, connection.begin():
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            raw = driver(connection)
            last = raw.execute(_LAST).fetchone()
            if last is None:
                raise NotProved("no checkpoint is signed yet: run `monitor audit seal`")
            size, note, _ = last
            rules = trail_acts(connection, (Kind.RULES,), None)
            yield TrailSnapshot(
                raw=raw,
                size=size,
                note=note,
                node=stored_tree(raw).node,
                profiles=_profiles(connection),
                rules=[act.body for act in rules if act.number is not None and act.number < size],
                queue_key=known_queue_key(connection),
                accounts=cache(lambda: read_accounts(connection, known_queue_key(connection))),
            )


def _queue(connection: Connection) -> tuple[int | None, datetime | None, bool]:
    """How many rows wait, since when, and whether the sealer still looks through older ones."""
    waiting, since = connection.execute(_WAITING).one()
    return waiting, since, bool(connection.scalar(_MISSING))


def _status(connection: Connection, queue: tuple[int | None, datetime | None, bool]) -> Status:
    last = driver(connection).execute(_LAST).fetchone()
    waiting, since, backfilling = queue
    return Status(
        size=tree_size(driver(connection)),
        signed=last[0] if last else 0,
        signed_at=last[2] if last else None,
        waiting=waiting,
        waiting_since=since,
        backfilling=backfilling,
    )


def _profiles(connection: Connection) -> dict[str, dict[str, Json]]:
    """The stored profiles by hash; none where one has more levels than can be read, as none of ours has."""
    try:
        rows = connection.execute(select(profile)).mappings().all()
        found = {row["hash"]: {name: row[name] for name in ("name", "embedding_model", "definition")} for row in rows}
        portable(found)
    except (RecursionError, ValueError):
        return {}
    return found
