"""What was said of what changed, by episode."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine, select
from sqlalchemy.dialects import postgresql

from monitor.alert.explain.explanation import Explanation
from monitor.alert.notification import Told
from monitor.store.database import retriable
from monitor.store.tables.alerts import alert_explanation


class Explanations:
    """Keeps and gives back; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def explained(self, told: Told, explanation: Explanation, now: datetime) -> None:
        """Keeps what was said of an episode; the newest stands."""
        values = {"fingerprint": told.fingerprint, "made_at": now, "explanation": explanation.to_json()}
        write = postgresql.insert(alert_explanation).values(episode=told.episode, **values)
        with retriable(), self._engine.begin() as connection:
            connection.execute(write.on_conflict_do_update(index_elements=["episode"], set_=values))

    def of(self, episode: str) -> Explanation | None:
        """What was said of it, if anything was."""
        query = select(alert_explanation.c.explanation).where(alert_explanation.c.episode == episode)
        with retriable(), self._engine.connect() as connection:
            stored = connection.scalar(query)
        return None if stored is None else Explanation.from_json(stored)
