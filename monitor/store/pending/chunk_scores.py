"""Reads how the relevance that a model gave an app's chunks is spread, for the threshold of the next ones."""

from __future__ import annotations

from sqlalchemy import Double, Engine, func, literal_column, select, true

from monitor.assess.threshold import UNKNOWN, Spread, shrunk
from monitor.store.database import retriable
from monitor.store.tables.interactions import judgement

METRIC = "chunk_relevance"
NEWEST = 50  # judgements that are read, by the index on app and metric
_FLOAT = literal_column("(scored.value ->> 'score')::float8", Double)


class ChunkScores:
    """The scores that one model gave chunks."""

    def __init__(self, engine: Engine, model: str) -> None:
        self._engine = engine
        self._model = model

    def spread(self, app: str) -> Spread:
        """The spread of the scores in the app's newest judgements; drawn towards `UNKNOWN`, which it is without any.

        Raises:
            Retriable: the database is out of reach for now.
        """
        j = judgement.c
        newest = (
            select(j.model, j.score, j.parts)
            .where(j.app == app, j.metric == METRIC)
            .order_by(j.occurred_at.desc())
            .limit(NEWEST)
            .subquery()
        )
        scored = func.jsonb_array_elements(newest.c.parts["chunks"]).table_valued("value").lateral("scored")
        query = (
            select(_FLOAT)
            .select_from(newest.join(scored, true()))
            .where(newest.c.model == self._model, newest.c.score.is_not(None))
        )
        with retriable(), self._engine.connect() as connection:
            return shrunk(connection.execute(query).scalars().all(), UNKNOWN)
