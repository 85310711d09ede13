"""Lists the turns that cannot be scored, newest first, a page at a time: an index holds these alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, select, tuple_

from monitor.core.model import Unscored
from monitor.store.database import limited_read, retriable
from monitor.store.interaction.filters import Filters, PagePosition, interaction_conditions
from monitor.store.interaction.listing.search import terms
from monitor.store.tables.interactions import interaction

PAGE = 50
_NARROW = "choose a shorter span of time"
_i = interaction.c
_NAMES = ("app", "id", "occurred_at", "environment", "model", "question", "answer", "unscored")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnscoredTurn:
    """One turn. Texts are unmasked, and empty where they are not known."""

    app: str
    id: str
    occurred_at: datetime
    environment: str
    model: str | None
    question: str
    answer: str
    unscored: Unscored


@dataclass(frozen=True, slots=True, kw_only=True)
class UnscoredPage:
    """A page, newest first; `older` is where the next one begins, None at the end."""

    rows: tuple[UnscoredTurn, ...]
    older: PagePosition | None


def unscored_page(
    engine: Engine, filters: Filters, *, older_than: PagePosition | None = None, most: int = PAGE
) -> UnscoredPage:
    """The newest turns of `filters.unscored` that match the filters by app, environment, model, topic and exact value.

    Other filters are about verdicts, or would let a search guess masked texts. May raise `Retriable`, among it
    `TakesTooLong`.
    """
    query = select(*(_i[name] for name in _NAMES)).where(
        _i.unscored.is_not(None),
        _i.unscored.in_(sorted(filters.unscored)),
        _i.occurred_at >= filters.since,
        _i.occurred_at < filters.until,
        *interaction_conditions(filters, terms("")),
    )
    if filters.app is not None:
        query = query.where(_i.app == filters.app)
    if older_than is not None:
        at = tuple_(older_than.occurred_at, older_than.app, older_than.id)
        query = query.where(tuple_(_i.occurred_at, _i.app, _i.id) < at)
    query = query.order_by(_i.occurred_at.desc(), _i.app.desc(), _i.id.desc()).limit(most + 1)
    with limited_read(engine, _NARROW) as connection:
        found = [_turn(dict(row)) for row in connection.execute(query).mappings()]
    rows = tuple(found[:most])
    last = rows[-1] if len(found) > most else None
    older = None if last is None else PagePosition(occurred_at=last.occurred_at, app=last.app, id=last.id)
    return UnscoredPage(rows=rows, older=older)


def unscored_turns(engine: Engine, interaction_id: str, app: str | None = None) -> list[Mapping[str, Any]]:
    """The stored rows of that id, of this app or of any, that cannot be scored; may raise `Retriable`."""
    query = select(*_i).where(_i.id == interaction_id, _i.unscored.is_not(None)).order_by(_i.app)
    if app is not None:
        query = query.where(_i.app == app)
    with retriable(), engine.connect() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]


def _turn(row: dict[str, Any]) -> UnscoredTurn:
    return UnscoredTurn(**{**row, "unscored": Unscored(row["unscored"])})
