"""Reads where an interaction is in its trace."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Engine, select

from monitor.store.database import retriable
from monitor.store.tables.interactions import interaction


class TracePlace(NamedTuple):
    """A trace, and the span in it that verdicts belong to, if it is known."""

    trace_id: str
    span_id: str | None


def trace_of(engine: Engine, app: str, interaction_id: str) -> TracePlace | None:
    """The place of a stored interaction; None if it is not stored or has no trace. May raise `Retriable`."""
    i = interaction.c
    query = select(i.trace_id, i.span_id).where(i.app == app, i.id == interaction_id, i.trace_id.is_not(None))
    with retriable(), engine.connect() as connection:
        found = connection.execute(query.limit(1)).one_or_none()
    return None if found is None else TracePlace(*found)
