"""Stores what end users say of answers. It is shown and counted, and no rate, label or verdict depends on it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Engine, text

from monitor.core.model import Interaction
from monitor.store.audit_queue import driver
from monitor.store.database import retriable

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)
# Only of interactions that are stored, so that nobody can fill the table with names, and nothing outlives retention: it
# keeps the keys of single rows. The newest word counts, so events that are read again change nothing.
_KEEP = """
    WITH known AS (
        SELECT said.* FROM unnest(%(apps)s::text[], %(ids)s::text[], %(thumbs)s::text[], %(times)s::timestamptz[])
            AS said (app, id, thumb, given_at)
        JOIN interaction_key k ON k.app = said.app AND k.id = said.id
        WHERE EXISTS (
            SELECT FROM interaction i
            WHERE i.app = said.app AND i.id = said.id AND i.occurred_at >= k.month::timestamp AT TIME ZONE 'UTC'
            AND i.occurred_at < (k.month + interval '1 month') AT TIME ZONE 'UTC'
        )
        FOR KEY SHARE OF k
    ), kept AS (
        INSERT INTO feedback (app, interaction_id, thumb, given_at)
        SELECT app, id, thumb, given_at FROM known ORDER BY app, id
        ON CONFLICT (app, interaction_id) DO UPDATE SET thumb = excluded.thumb, given_at = excluded.given_at
        WHERE feedback.given_at <= excluded.given_at
    )
    SELECT count(*) FROM known
"""
LATEST = timedelta(days=30)
_COUNT = text("""
    SELECT count(*) FILTER (WHERE f.thumb = 'up') AS up, count(*) FILTER (WHERE f.thumb = 'down') AS down
    FROM feedback f JOIN interaction i ON i.app = f.app AND i.id = f.interaction_id
    WHERE f.app = :app AND f.given_at >= :since AND f.given_at < :latest
    AND i.occurred_at >= :since AND i.occurred_at < :until
""")


class _Said(NamedTuple):
    app: str
    id: str
    thumb: str
    given_at: datetime


def keep_feedback(connection: psycopg.Connection, interactions: Iterable[Interaction], now: datetime) -> None:
    """Stores the feedback that events carry, in the caller's transaction; what is about unknown answers is logged.

    It is as old as the event that carries it, and an event from the future as old as `now`.
    """
    said = [
        _Said(event.app, one.id, one.thumb, min(event.occurred_at, now))
        for event in interactions
        for one in event.feedback
    ]
    newest = {(one.app, one.id): one for one in sorted(said, key=attrgetter("given_at"))}
    unknown = len(newest) - _keep(connection, list(newest.values()))
    if unknown:
        log.warning("feedback on %d answers that are not stored was left out", unknown)


def add_feedback(engine: Engine, app: str, interaction_id: str, thumb: str, now: datetime) -> bool:
    """Stores `up` or `down` for an answer, given at `now`; returns whether the answer is stored.

    Raises:
        Retriable: the database is out of reach.
    """
    with retriable(), engine.begin() as connection:
        return _keep(driver(connection), [_Said(app, interaction_id, thumb, now)]) == 1


def _keep(connection: psycopg.Connection, said: Sequence[_Said]) -> int:
    """Stores what is newer than what is stored; returns how many of the answers are stored."""
    if not said:
        return 0
    apps, ids, given, times = (list(column) for column in zip(*said, strict=True))
    row = connection.execute(_KEEP, {"apps": apps, "ids": ids, "thumbs": given, "times": times}).fetchone()
    return 0 if row is None else int(row[0])


def thumbs(engine: Engine, app: str, since: datetime, until: datetime) -> dict[str, int]:
    """How many of the app's answers of [since, until) have a thumb `up` and `down`, given until `LATEST` after `until`.

    Nobody comments on an answer before it is given, so the work grows with the thumbs of that time.

    Raises:
        Retriable: the database is out of reach.
    """
    with retriable(), engine.connect() as connection:
        values = {"app": app, "since": since, "until": until, "latest": until + LATEST}
        return dict(connection.execute(_COUNT, values).mappings().one())
