"""Stores what end users say of answers. It is shown and counted, and no rate, label or verdict depends on it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Engine, text

from monitor.core.model import Interaction
from monitor.store.audit_queue import driver
from monitor.store.database import retriable

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)
# Only of interactions that are stored, so that nobody can fill the table with names; the newest word counts.
_KEEP = """
    INSERT INTO feedback (app, interaction_id, thumb, given_at)
    SELECT said.app, said.id, said.thumb, %(now)s
    FROM unnest(%(apps)s::text[], %(ids)s::text[], %(thumbs)s::text[]) AS said (app, id, thumb)
    JOIN interaction_key k ON k.app = said.app AND k.id = said.id
    ORDER BY said.app, said.id
    ON CONFLICT (app, interaction_id) DO UPDATE SET thumb = excluded.thumb, given_at = excluded.given_at
"""
# Nobody comments on an answer before it is given.
_COUNT = text("""
    SELECT count(*) FILTER (WHERE f.thumb = 'up') AS up, count(*) FILTER (WHERE f.thumb = 'down') AS down
    FROM feedback f JOIN interaction i ON i.app = f.app AND i.id = f.interaction_id
    WHERE f.app = :app AND f.given_at >= :since AND i.occurred_at >= :since AND i.occurred_at < :until
""")


def keep_feedback(connection: psycopg.Connection, interactions: Iterable[Interaction], now: datetime) -> None:
    """Stores the feedback that events carry, in the caller's transaction; what is about unknown answers is logged."""
    said = {(event.app, one.id): one.thumb for event in interactions for one in event.feedback}
    if not said:
        return
    values = {
        "apps": [app for app, _ in said],
        "ids": [id_ for _, id_ in said],
        "thumbs": list(said.values()),
        "now": now,
    }
    unknown = len(said) - connection.execute(_KEEP, values).rowcount
    if unknown:
        log.warning("feedback on %d answers that are not stored was left out", unknown)


def add_feedback(engine: Engine, app: str, interaction_id: str, thumb: str, now: datetime) -> bool:
    """Stores `up` or `down` for an answer; returns whether the answer is stored.

    Raises:
        Retriable: the database is out of reach.
    """
    values = {"apps": [app], "ids": [interaction_id], "thumbs": [thumb], "now": now}
    with retriable(), engine.begin() as connection:
        return driver(connection).execute(_KEEP, values).rowcount == 1


def thumbs(engine: Engine, app: str, since: datetime, until: datetime) -> dict[str, int]:
    """How many of the app's answers of [since, until) have a thumb `up` and `down`.

    Raises:
        Retriable: the database is out of reach.
    """
    with retriable(), engine.connect() as connection:
        return dict(connection.execute(_COUNT, {"app": app, "since": since, "until": until}).mappings().one())
