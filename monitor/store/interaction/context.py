"""Reads the context of one interaction: the turns of its conversation, and its leaves in the audit trail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine, select, true

from monitor.core.model import Verdict
from monitor.store.audit_queue import STORED
from monitor.store.database import limited_read
from monitor.store.tables.audit import audit_leaf
from monitor.store.tables.interactions import assessment, interaction

MOST_TURNS = 50
_MOST_LEAVES = 100
_NARROW = "the database is busy; try again in a moment"
_a, _i, _l = assessment.c, interaction.c, audit_leaf.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One interaction of a conversation; `verdict` is None while it waits for its assessment."""

    id: str
    turn: int | None
    occurred_at: datetime
    question: str
    verdict: Verdict | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionLeaf:
    """A leaf of the audit trail that is about the interaction."""

    index: int
    kind: str
    sealed_at: datetime


class InteractionContext:
    """Reads; every method may raise `Retriable`, among it `TakesTooLong`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def conversation(self, app: str, conversation_id: str) -> Sequence[Turn]:
        """The first `MOST_TURNS` turns of a conversation, in order, and one more where there are more."""
        turns = (
            select(_i.id, _i.turn, _i.occurred_at, _i.question)
            .where(_i.app == app, _i.conversation_id == conversation_id)
            .order_by(_i.turn.asc().nulls_last(), _i.occurred_at, _i.id)
            .limit(MOST_TURNS + 1)
            .subquery("turns")
        )
        t = turns.c
        live = (
            select(_a.verdict)
            .where(_a.app == app, _a.id == t.id, _a.occurred_at == t.occurred_at, _a.live)
            .limit(1)
            .lateral("live")
        )
        query = select(*t, live.c.verdict).select_from(turns.outerjoin(live, true()))
        query = query.order_by(t.turn.asc().nulls_last(), t.occurred_at, t.id)
        with limited_read(self._engine, _NARROW) as connection:
            return [
                Turn(
                    id=row.id,
                    turn=row.turn,
                    occurred_at=row.occurred_at,
                    question=row.question,
                    verdict=Verdict(row.verdict) if row.verdict else None,
                )
                for row in connection.execute(query)
            ]

    def leaves(self, app: str, interaction_id: str) -> Sequence[InteractionLeaf]:
        """The leaves of the interaction, its assessments and judgements, in order; empty before they are sealed."""
        query = (
            select(_l.index, _l.kind, _l.sealed_at)
            .where(_l.app == app, _l.subject == interaction_id, _l.kind.in_([kind.value for kind in STORED]))
            .order_by(_l.index)
            .limit(_MOST_LEAVES)
        )
        with limited_read(self._engine, _NARROW) as connection:
            return [InteractionLeaf(**row) for row in connection.execute(query).mappings()]
