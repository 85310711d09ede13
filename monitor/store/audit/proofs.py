"""How far the audit trail is sealed, and the snapshots of it that proofs and exports are read from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Engine, select, text

from monitor.audit.note import NotProved
from monitor.core.model import Json
from monitor.store.audit.acts import trail_acts
from monitor.store.audit.checks.accounts import read_accounts
from monitor.store.audit.snapshot import TrailSnapshot
from monitor.store.audit.tree import stored_tree
from monitor.store.audit_queue import Act, Kind, driver, known_queue_key, queue_act
from monitor.store.database import retriable
from monitor.store.tables.interactions import profile

_LAST = "SELECT size, note, made_at FROM audit_checkpoint ORDER BY size DESC LIMIT 1"
_WAITING = text("SELECT count(*), min(queued_at) FROM audit_queue WHERE kind <> 'missing'")
_MISSING = text("SELECT EXISTS (SELECT FROM audit_queue WHERE kind = 'missing')")
_SIZE = text("SELECT coalesce(max(index) + 1, 0) FROM audit_leaf")


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How far sealing is: the leaves, the last checkpoint, and the rows that wait."""

    size: int
    signed: int
    signed_at: datetime | None
    waiting: int
    waiting_since: datetime | None
    backfilling: bool


class Proofs:
    """Reads the trail for proofs and exports; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def status(self) -> Status:
        with retriable(), self._engine.connect() as connection:
            last = driver(connection).execute(_LAST).fetchone()
            waiting, since = connection.execute(_WAITING).one()
            return Status(
                size=connection.scalar(_SIZE) or 0,
                signed=last[0] if last else 0,
                signed_at=last[2] if last else None,
                waiting=waiting,
                waiting_since=since,
                backfilling=bool(connection.scalar(_MISSING)),
            )

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
            profiles = connection.execute(select(profile)).mappings()
            rules = trail_acts(connection, (Kind.RULES,), None)
            yield TrailSnapshot(
                raw=raw,
                size=size,
                note=note,
                node=stored_tree(raw).node,
                profiles={row["hash"]: _definition(dict(row)) for row in profiles},
                rules=[act.body for act in rules if act.number is not None and act.number < size],
                queue_key=known_queue_key(connection),
                accounts=cache(lambda: read_accounts(connection, known_queue_key(connection))),
            )


def _definition(row: Mapping[str, Any]) -> dict[str, Json]:
    return {name: row[name] for name in ("name", "embedding_model", "definition")}
