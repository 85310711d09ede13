"""Stores what end users say of answers. It is shown and counted, and no rate, label or verdict depends on it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Engine, text

from monitor.core.model import Interaction
from monitor.core.trace import Collected
from monitor.store.audit_queue import driver
from monitor.store.database import retriable

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)
MOST_EARLY = 10_000
EARLY_FOR = timedelta(hours=1)
# Only of interactions that are stored, so that nobody can fill the table with names, and nothing outlives retention: it
# keeps the keys of single rows. The newest word counts, so events that are read again change nothing; a comment stays
# if the same thumb comes again without one.
_KEEP = """
    WITH known AS (
        SELECT said.* FROM unnest(%(apps)s::text[], %(ids)s::text[], %(thumbs)s::text[], %(comments)s::text[],
            %(times)s::timestamptz[]) AS said (app, id, thumb, comment, given_at)
        JOIN interaction_key k ON k.app = said.app AND k.id = said.id
        WHERE EXISTS (
            SELECT FROM interaction i
            WHERE i.app = said.app AND i.id = said.id AND i.occurred_at >= k.month::timestamp AT TIME ZONE 'UTC'
            AND i.occurred_at < (k.month + interval '1 month') AT TIME ZONE 'UTC'
        )
        FOR KEY SHARE OF k
    ), kept AS (
        INSERT INTO feedback (app, interaction_id, thumb, comment, given_at)
        SELECT app, id, thumb, comment, given_at FROM known ORDER BY app, id
        ON CONFLICT (app, interaction_id) DO UPDATE SET thumb = excluded.thumb, given_at = excluded.given_at,
            comment = coalesce(excluded.comment, CASE WHEN feedback.thumb = excluded.thumb THEN feedback.comment END)
        WHERE feedback.given_at <= excluded.given_at
    )
    SELECT app, id FROM known
"""
_HOLD = """
    INSERT INTO early_feedback (app, interaction_id, thumb, comment, given_at, received_at)
    SELECT said.*, %(now)s FROM unnest(%(apps)s::text[], %(ids)s::text[], %(thumbs)s::text[], %(comments)s::text[],
        %(times)s::timestamptz[]) AS said (app, id, thumb, comment, given_at)
    ORDER BY app, id LIMIT greatest(%(most)s - (SELECT count(*) FROM early_feedback), 0)
    ON CONFLICT (app, interaction_id) DO UPDATE SET thumb = excluded.thumb, given_at = excluded.given_at,
        received_at = excluded.received_at, comment = coalesce(
            excluded.comment, CASE WHEN early_feedback.thumb = excluded.thumb THEN early_feedback.comment END)
    WHERE early_feedback.given_at <= excluded.given_at
"""
_COME = """
    DELETE FROM early_feedback e USING unnest(%s::text[], %s::text[]) AS come (app, id)
    WHERE e.app = come.app AND e.interaction_id = come.id
    RETURNING e.app, e.interaction_id, e.thumb, e.comment, e.given_at
"""
_EXPIRE = """
    DELETE FROM early_feedback WHERE (app, interaction_id) IN (
        SELECT app, interaction_id FROM early_feedback WHERE received_at < %s FOR UPDATE SKIP LOCKED
    )
"""
_ONE = text("SELECT thumb, comment, given_at FROM feedback WHERE app = :app AND interaction_id = :id")
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
    comment: str | None
    given_at: datetime


def keep_feedback(
    connection: psycopg.Connection, interactions: Sequence[Interaction], collected: Iterable[Collected], now: datetime
) -> None:
    """Stores the feedback that a batch carries, in the caller's transaction, after its interactions.

    It is as old as the event that carries it, and an event from the future as old as `now`. What is said of an answer
    that is not stored is held for `EARLY_FOR`, `MOST_EARLY` words at most, and stored with the answer if that comes.
    """
    said = [
        _Said(event.app, one.id, one.thumb, one.comment, min(event.occurred_at, now))
        for event in interactions
        for one in event.feedback
    ]
    said += [
        _Said(message.app or "", one.id, one.thumb, one.comment, min(one.given_at or message.received_at, now))
        for message in collected
        for one in message.feedback
    ]
    if interactions:
        keys = ([event.app for event in interactions], [event.id for event in interactions])
        said += map(_Said._make, connection.execute(_COME, keys).fetchall())
    words = _newest(said)
    stored = _keep(connection, words)
    left_out = connection.execute(_EXPIRE, (now - EARLY_FOR,)).rowcount
    if early := [one for one in words if (one.app, one.id) not in stored]:
        left_out += len(early) - connection.execute(_HOLD, {**_columns(early), "now": now, "most": MOST_EARLY}).rowcount
    if left_out:
        log.warning("feedback on %d answers that are not stored was left out", left_out)


def _newest(said: Iterable[_Said]) -> list[_Said]:
    """The newest word on each answer; the comment of an earlier one stays if its thumb was the same."""
    newest: dict[tuple[str, str], _Said] = {}
    for one in sorted(said, key=attrgetter("given_at")):
        before = newest.get((one.app, one.id))
        again = before is not None and one.comment is None and before.thumb == one.thumb
        newest[one.app, one.id] = one._replace(comment=before.comment) if before and again else one
    return list(newest.values())


def add_feedback(
    engine: Engine, app: str, interaction_id: str, thumb: str, now: datetime, *, comment: str | None = None
) -> bool:
    """Stores `up` or `down` for an answer, given at `now`; returns whether the answer is stored.

    Raises:
        Retriable: the database is out of reach.
    """
    with retriable(), engine.begin() as connection:
        return bool(_keep(driver(connection), [_Said(app, interaction_id, thumb, comment, now)]))


def feedback_on(engine: Engine, app: str, interaction_id: str) -> Mapping[str, Any] | None:
    """`{thumb, comment, given_at}`: the last word on an answer; None if nobody said anything.

    Raises:
        Retriable: the database is out of reach.
    """
    with retriable(), engine.connect() as connection:
        row = connection.execute(_ONE, {"app": app, "id": interaction_id}).mappings().one_or_none()
    return None if row is None else dict(row)


def _keep(connection: psycopg.Connection, said: Sequence[_Said]) -> set[tuple[str, str]]:
    """Stores what is newer than what is stored; returns those of the answers that are stored."""
    return {(app, id_) for app, id_ in connection.execute(_KEEP, _columns(said)).fetchall()} if said else set()


def _columns(said: Sequence[_Said]) -> dict[str, list[Any]]:
    names = ("apps", "ids", "thumbs", "comments", "times")
    return dict(zip(names, map(list, zip(*said, strict=True)), strict=True))


def thumbs(engine: Engine, app: str, since: datetime, until: datetime) -> dict[str, int]:
    """How many of the app's answers of [since, until) have a thumb `up` and `down`, given until `LATEST` after `until`.

    Nobody comments on an answer before it is given, so the work grows with the thumbs of that time.

    Raises:
        Retriable: the database is out of reach.
    """
    with retriable(), engine.connect() as connection:
        values = {"app": app, "since": since, "until": until, "latest": until + LATEST}
        return dict(connection.execute(_COUNT, values).mappings().one())
