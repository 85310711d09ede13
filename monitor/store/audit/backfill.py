"""Queues, a piece at a time, what was stored before there was an audit trail, or by a release without one."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Engine, delete, insert, select, text

from monitor.core.model import Json
from monitor.store.audit.acts import STORED_ACTS, stored_acts, trail_acts
from monitor.store.audit.rows import PART, UNSEALED
from monitor.store.audit_queue import STORED, Kind, queue_act
from monitor.store.database import retriable
from monitor.store.tables.audit import audit_queue
from monitor.store.tables.interactions import interaction_key

PIECE = 1_000  # interactions
_QUEUE = """
    INSERT INTO audit_queue (kind, app, subject, part, queued_at)
    SELECT '{kind}', r.app, r.id, {part}, :now
    FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[])) AS w (app, id)
    JOIN {kind} r ON r.app = w.app AND r.id = w.id
    WHERE {unsealed}
    ORDER BY r.app, r.id
"""


def look_for_missing(engine: Engine, now: datetime) -> None:
    """Asks the sealer to look through all stored rows for those in no leaf; may raise `Retriable`."""
    with retriable(), engine.begin() as connection:
        connection.execute(delete(audit_queue).where(audit_queue.c.kind == Kind.MISSING))
        _mark(connection, Kind.MISSING, None, now)


def queue_missing(connection: Connection, now: datetime) -> bool:
    """Queues what is in no leaf of the next `PIECE` interactions, if the sealer was asked to look; whether it was.

    The request in the queue says how far the look has come. At the end an act says how many rows were in no leaf.
    """
    q = audit_queue.c
    asked = connection.execute(delete(audit_queue).where(q.kind == Kind.MISSING).returning(q.body)).first()
    if asked is None:
        return False
    body = asked.body or {}
    found = int(body["rows"]) if body else _queue_acts(connection)
    k = interaction_key.c
    page = select(k.app, k.id).order_by(k.app, k.id).limit(PIECE)
    if body:
        app, id_ = body["after"]
        page = page.where(text("(app, id) > (:app, :id)").bindparams(app=app, id=id_))
    keys = connection.execute(page).all()
    values = {"apps": [key.app for key in keys], "ids": [key.id for key in keys], "now": now}
    for kind in STORED if keys else ():
        queue = text(_QUEUE.format(kind=kind.value, part=PART[kind], unsealed=UNSEALED[kind]))
        found += connection.execute(queue, values).rowcount
    if len(keys) == PIECE:
        _mark(connection, Kind.MISSING, {"after": [keys[-1].app, keys[-1].id], "rows": found}, now)
    elif found:
        _mark(connection, Kind.BACKFILL, {"by": "monitor", "at": now.isoformat(), "rows": found}, now)
    return True


def _mark(connection: Connection, kind: Kind, body: dict[str, Json] | None, now: datetime) -> None:
    row = {"kind": kind, "app": "", "subject": "", "queued_at": now}
    connection.execute(insert(audit_queue), row if body is None else {**row, "body": body})


def _queue_acts(connection: Connection) -> int:
    recorded = {act.key for act in trail_acts(connection, STORED_ACTS)}
    missing = [act for key, act in stored_acts(connection).items() if key not in recorded]
    for act in missing:
        queue_act(connection, act)
    return len(missing)
