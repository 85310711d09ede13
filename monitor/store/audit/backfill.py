"""What was stored before there was an audit trail, or past it by an earlier release: queued a piece at a time."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, Engine, delete, insert, select, text

from monitor.core.model import Json
from monitor.store.audit.acts import act_key, stored_acts, told_acts
from monitor.store.audit.rows import PART, WAITS
from monitor.store.audit_queue import STORED, Kind, queue_act
from monitor.store.database import retriable
from monitor.store.tables.audit import audit_queue
from monitor.store.tables.interactions import interaction_key

PIECE = 1_000  # interactions
ACTS = (Kind.PROFILE, Kind.LABEL, Kind.SILENCE, Kind.ACKNOWLEDGE)  # that stored rows tell of
_QUEUE = {
    kind: text(f"""
        INSERT INTO audit_queue (kind, app, subject, part, queued_at)
        SELECT '{kind.value}', r.app, r.id, {PART[kind]}, :now
        FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[])) AS w (app, id)
        JOIN {kind.value} r ON r.app = w.app AND r.id = w.id
        WHERE NOT EXISTS (SELECT FROM audit_leaf l WHERE l.app = r.app AND l.subject = r.id
                AND l.kind = '{kind.value}' AND l.part = {PART[kind]})
            AND NOT EXISTS (SELECT FROM audit_queue q WHERE q.app = r.app AND q.subject = r.id AND {WAITS[kind]})
        ORDER BY r.app, r.id
    """)  # noqa: S608  made of this project's own names
    for kind in STORED
}


def look_for_missing(engine: Engine, now: datetime) -> None:
    """Has the sealer look through all stored rows for what is in no leaf; raises `Retriable`."""
    with retriable(), engine.begin() as connection:
        connection.execute(delete(audit_queue).where(audit_queue.c.kind == Kind.MISSING))
        _mark(connection, Kind.MISSING, None, now)


def queue_missing(connection: Connection, now: datetime) -> bool:
    """Queues what is in no leaf of the next `PIECE` interactions, if such is looked for; whether it was.

    The line in the queue that asks for it says how far it has come. At the end an act says how many there were.
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
        found += connection.execute(_QUEUE[kind], values).rowcount
    if len(keys) == PIECE:
        _mark(connection, Kind.MISSING, {"after": [keys[-1].app, keys[-1].id], "rows": found}, now)
    elif found:
        _mark(connection, Kind.BACKFILL, {"by": "monitor", "at": now.isoformat(), "rows": found}, now)
    return True


def _mark(connection: Connection, kind: Kind, body: dict[str, Json] | None, now: datetime) -> None:
    row = {"kind": kind, "app": "", "subject": "", "queued_at": now}
    connection.execute(insert(audit_queue), row if body is None else {**row, "body": body})


def _queue_acts(connection: Connection) -> int:
    told = {act_key(kind, subject, body) for _, kind, _, subject, body in told_acts(connection, ACTS)}
    missing = [act for key, act in stored_acts(connection).items() if key not in told]
    for act in missing:
        queue_act(connection, act)
    return len(missing)
