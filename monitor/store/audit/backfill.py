"""Takes into the trail what no process with the audit key has queued: what earlier releases stored or queued.

That is done once when a trail is first sealed by this release, and whenever somebody who has the key asks for it.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, delete, select, text

from monitor.core.model import Json
from monitor.store.audit.acts import STORED_ACTS, act_body, stored_acts, trail_acts
from monitor.store.audit.leaf import entry_of
from monitor.store.audit_queue import (
    STORED,
    Entry,
    EntrySource,
    Kind,
    act_entry,
    driver,
    entry_mac,
    is_authentic,
    queue_key,
)
from monitor.store.audit_rows import PART
from monitor.store.database import retriable
from monitor.store.tables.audit import audit_queue
from monitor.store.tables.interactions import interaction_key

if TYPE_CHECKING:
    import psycopg

PIECE = 1_000  # interactions, or entries
# Whether the queue's row `q` waits to be sealed for the row `r`; an interaction may stand for its assessment too.
_WAITS = {
    Kind.INTERACTION: "q.kind = 'interaction'",
    Kind.ASSESSMENT: "q.kind IN ('interaction', 'assessment') AND q.part = r.profile_hash",
    Kind.JUDGEMENT: f"q.kind = 'judgement' AND q.part = {PART[Kind.JUDGEMENT]}",
}
_UNSEALED = """
    NOT EXISTS (
        SELECT FROM audit_leaf l
        WHERE l.app = r.app AND l.subject = r.id AND l.kind = '{kind}' AND l.part = {part}
    )
    AND NOT EXISTS (
        SELECT FROM audit_queue q WHERE q.app = r.app AND q.subject = r.id AND q.mac IS NOT NULL AND {waits}
    )
"""
# Whether a row `r` is in no leaf and does not wait for one.
UNSEALED = {kind: _UNSEALED.format(kind=kind.value, part=PART[kind], waits=_WAITS[kind]) for kind in STORED}
_FIND = """
    SELECT r.app, r.id, {part}
    FROM unnest(CAST(:apps AS text[]), CAST(:ids AS text[])) AS w (app, id)
    JOIN {kind} r ON r.app = w.app AND r.id = w.id
    WHERE {unsealed}
    ORDER BY r.app, r.id
"""
_LAST_LEAF = "SELECT kind, body FROM audit_leaf WHERE kind <> 'recovery' ORDER BY index DESC LIMIT 1"
_STRANGE = """
    SELECT seq, kind, app, subject, part, body FROM audit_queue
    WHERE mac IS NULL AND seq > %s ORDER BY seq LIMIT %s
"""
_OWN = "UPDATE audit_queue SET source = %s, number = %s, records = %s, mac = %s WHERE seq = %s"
_FORGET_ROWS = """
    DELETE FROM audit_queue WHERE mac IS NULL AND kind IN ('interaction', 'assessment', 'judgement', 'missing')
"""
_ASKED = """
    SELECT seq, source, number, mac, kind, app, subject, part, records FROM audit_queue
    WHERE kind = 'missing' AND mac IS NOT NULL ORDER BY seq
"""
_DONE = "DELETE FROM audit_queue WHERE seq = ANY(%s)"


def look_for_missing(engine: Engine, now: datetime) -> None:
    """Asks the sealer to look through all stored rows for those in no leaf; may raise `Retriable`."""
    with retriable(), engine.begin() as connection:
        connection.execute(delete(audit_queue).where(audit_queue.c.kind == Kind.MISSING))
        EntrySource(queue_key(connection)).queue(driver(connection), [_request({})], now)


def is_numbered(raw: psycopg.Connection) -> bool:
    """Whether this release has sealed before, so that the trail takes in only what is queued with the key.

    The last leaf then says which entry it came from; a recovery, which is never queued, is no such leaf.
    """
    last = raw.execute(_LAST_LEAF).fetchone()
    return last is not None and entry_of(*last) is not None


def adopt(connection: Connection, key: bytes, now: datetime) -> None:
    """Authenticates everything that is in the queue without a key, as it stands, in its order; an act says how much.

    For the first batch of this release only, since whoever may write to the database can put anything there.
    """
    raw, source, number, rows, last = driver(connection), secrets.token_hex(8), 0, 0, 0
    while strange := raw.execute(_STRANGE, (last, PIECE)).fetchall():
        owned = []
        for seq, kind, app, subject, part, body in strange:
            entry = Entry(kind, app, subject, part, None)
            if kind not in STORED:
                entry = act_entry(kind=kind, app=app, subject=subject, body=body or {})
            if kind == Kind.MISSING:  # never sealed, so it must not take a number
                place = secrets.token_hex(8), 1
            else:
                number += 1
                rows += 2 if kind == Kind.INTERACTION and part else 1  # with its assessment
                place = source, number
            owned.append((*place, entry.records, entry_mac(key, entry, *place), seq))
        with raw.cursor() as cursor:
            cursor.executemany(_OWN, owned)
        last = strange[-1][0]
    if rows:
        EntrySource(key).queue(raw, [_backfilled(rows, now)], now)


def queue_missing(connection: Connection, key: bytes, now: datetime) -> bool:
    """Queues what is in no leaf of the next `PIECE` interactions, if the sealer was asked to look; whether it was.

    The request in the queue says how far the look has come. At the end an act says how many rows were in no leaf.
    Rows that were queued without a key are looked for like all others; an act that was is left where it is.
    """
    raw, source = driver(connection), EntrySource(key)
    request = _asked(raw, key)
    if request is None:
        return False
    if not request:
        raw.execute(_FORGET_ROWS)
    found = int(request["rows"]) if request else _queue_acts(connection, key, source, now)
    k = interaction_key.c
    page = select(k.app, k.id).order_by(k.app, k.id).limit(PIECE)
    if request:
        app, id_ = request["after"]
        page = page.where(text("(app, id) > (:app, :id)").bindparams(app=app, id=id_))
    keys = connection.execute(page).all()
    values = {"apps": [row.app for row in keys], "ids": [row.id for row in keys]}
    for kind in STORED if keys else ():
        query = text(_FIND.format(kind=kind.value, part=PART[kind], unsealed=UNSEALED[kind]))
        entries = [Entry(kind, app, id_, part, None) for app, id_, part in connection.execute(query, values)]
        found += source.queue(raw, entries, now)
    if len(keys) == PIECE:
        again: dict[str, Json] = {"after": [keys[-1].app, keys[-1].id], "rows": found}
        EntrySource(key).queue(raw, [_request(again)], now)  # never sealed, so a source of its own
    elif found:
        source.queue(raw, [_backfilled(found, now)], now)
    return True


def _backfilled(rows: int, now: datetime) -> Entry:
    body: dict[str, Json] = {"by": "monitor", "at": now.isoformat(), "rows": rows}
    return act_entry(kind=Kind.BACKFILL, subject="", body=body)


def _request(body: dict[str, Json]) -> Entry:
    return act_entry(kind=Kind.MISSING, subject="", body=body)


def _asked(raw: psycopg.Connection, key: bytes) -> dict[str, Any] | None:
    """The request of somebody who has the key, which it takes out of the queue; None where there is none."""
    done, request = [], None
    for seq, source, number, mac, *rest in raw.execute(_ASKED).fetchall():
        done.append(seq)
        entry = Entry(*rest)
        if is_authentic(key, entry, source, number, mac):
            request = act_body(entry.records or "")
    raw.execute(_DONE, (done,))
    return request


def _queue_acts(connection: Connection, key: bytes, source: EntrySource, now: datetime) -> int:
    recorded = {act.key for act in trail_acts(connection, STORED_ACTS, key)}
    missing = [act for act_key, act in stored_acts(connection).items() if act_key not in recorded]
    entries = [
        act_entry(
            kind=act.kind, app=act.app, subject=act.subject, body={"by": act.by, "at": act.at.isoformat(), **act.body}
        )
        for act in missing
    ]
    return source.queue(driver(connection), entries, now)
