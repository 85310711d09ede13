"""Stores which batches of requests were sent to a provider and are not read yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from zlib import crc32

from sqlalchemy import Engine, Row, insert, select, update

from monitor.assess.llm.exchange import Spend
from monitor.store.database import advisory_lock, retriable
from monitor.store.tables.interactions import llm_batch

BATCH_LOCK = 7_305_108  # with the batch's id
_b = llm_batch.c


@dataclass(frozen=True, slots=True, kw_only=True)
class SentBatch:
    """A batch that has not been read yet; `claim` is the token of its work, `sent_at` when its use was reserved.

    `reserved` says how much for each request, by its name; it is empty if the previous release sent the batch.
    """

    id: str
    claim: str
    sent_at: datetime
    reserved: Mapping[str, Spend]


class SentBatches:
    """The batches; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def sent(self, batch: SentBatch, *, model: str, requests: int, now: datetime) -> None:
        row = {
            "id": batch.id,
            "claim": batch.claim,
            "model": model,
            "requests": requests,
            "sent_at": batch.sent_at,
            "looked_at": now,
            "status": "sent",
            "reserved": {name: asdict(spend) for name, spend in batch.reserved.items()},
        }
        with retriable(), self._engine.begin() as connection:
            connection.execute(insert(llm_batch).values(row))

    def to_look_after(self, now: datetime, *, every: timedelta) -> Sequence[SentBatch]:
        """Open batches that no process has checked for `every`; marks them as checked now.

        One that was checked in the future is among them: the clock was set back.
        """
        open_ones = (
            select(_b.id)
            .where(_b.finished_at.is_(None), (_b.looked_at <= now - every) | (_b.looked_at > now + every))
            .order_by(_b.looked_at)
            .with_for_update(skip_locked=True)
            .scalar_subquery()
        )
        columns = (_b.id, _b.claim, _b.sent_at, _b.reserved)
        statement = update(llm_batch).where(_b.id.in_(open_ones)).values(looked_at=now).returning(*columns)
        with retriable(), self._engine.begin() as connection:
            return [_batch(row) for row in connection.execute(statement)]

    def alone(self, batch: SentBatch) -> AbstractContextManager[bool]:
        """Tries to lock the batch for the block; yields whether this process may read it."""
        return advisory_lock(self._engine, (BATCH_LOCK << 32) + crc32(batch.id.encode()))

    def looked(self, batch: SentBatch, status: str, *, finished_at: datetime | None) -> None:
        """Stores the status, and when the batch was read completely."""
        values = {"status": status, "finished_at": finished_at}
        with retriable(), self._engine.begin() as connection:
            connection.execute(update(llm_batch).where(_b.id == batch.id).values(values))


def _batch(row: Row[Any]) -> SentBatch:
    reserved = {name: Spend(**spend) for name, spend in (row.reserved or {}).items()}
    return SentBatch(id=row.id, claim=row.claim, sent_at=row.sent_at, reserved=reserved)
