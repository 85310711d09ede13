"""The profiles that verdicts were ever given under."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, select

from monitor.store.database import retriable
from monitor.store.tables.interactions import profile

_p = profile.c


class ProfileList:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def listed(self, most: int) -> list[Mapping[str, Any]]:
        """Without their definitions, the newest first."""
        query = select(_p.hash, _p.name, _p.embedding_model, _p.stored_at).order_by(_p.stored_at.desc(), _p.hash)
        with retriable(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query.limit(most)).mappings()]

    def defined(self, most: int) -> list[Mapping[str, Any]]:
        """With their definitions as they were stored, the newest first."""
        query = select(*_p).order_by(_p.stored_at.desc(), _p.hash)
        with retriable(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query.limit(most)).mappings()]

    def one(self, profile_hash: str) -> Mapping[str, Any] | None:
        """With its definition as it was stored."""
        with retriable(), self._engine.connect() as connection:
            row = connection.execute(select(*_p).where(_p.hash == profile_hash)).mappings().one_or_none()
        return None if row is None else dict(row)
