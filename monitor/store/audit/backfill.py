"""Takes into the trail what no process with the audit key has queued: what earlier releases stored or queued.

That is done once when a trail is first sealed by this release, and whenever somebody who has the key asks for it.
"""

from __future__ import annotations

import json
import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, select, text

from monitor.audit.merkle import leaf_hash
from monitor.core.errors import Fatal
from monitor.core.model import Json
from monitor.store.audit.acts import STORED_ACTS, act_body, stored_acts, trail_acts
from monitor.store.audit.leaf import entry_of
from monitor.store.audit.tree import stored_tree
from monitor.store.audit_queue import (
    STORED,
    Entry,
    EntrySource,
    Kind,
    act_entry,
    driver,
    entry_of_act,
    queue_key,
)
from monitor.store.audit_rows import PART
from monitor.store.database import retriable
from monitor.store.tables.interactions import interaction_key

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)
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
_LEAF = "SELECT body FROM audit_leaf WHERE index = %s"
_STRANGE = """
    SELECT seq, kind, app, subject, part, body FROM audit_queue
    WHERE mac IS NULL AND kind <> 'missing' AND seq > %s ORDER BY seq LIMIT %s
"""
_OWN = "UPDATE audit_queue SET source = %s, number = %s, records = %s, mac = %s WHERE seq = %s"
_FORGET_ROWS = """
    DELETE FROM audit_queue WHERE mac IS NULL AND kind IN ('interaction', 'assessment', 'judgement', 'missing')
"""
_ANY = "SELECT EXISTS (SELECT FROM interaction r WHERE {unsealed})"
_ANY_MISSING = _ANY.format(unsealed=UNSEALED[Kind.INTERACTION])
_FORGET_REQUESTS = "DELETE FROM audit_queue WHERE mac IS NULL AND kind = 'missing'"
_VALID = timedelta(hours=1)  # a request to look that is older was kept by somebody


def look_for_missing(engine: Engine, now: datetime) -> None:
    """Asks the sealer to look through all stored rows for those in no leaf; may raise `Retriable`."""
    with retriable(), engine.begin() as connection:
        _request(driver(connection), EntrySource(queue_key(connection)), now, {})


def is_numbered(raw: psycopg.Connection, size: int) -> bool:
    """Whether this release has sealed one of the first `size` leaves, so that the trail takes in only its own entries.

    The last of them then says which entry it came from; a recovery, which is never queued, is no such leaf. A body is
    believed only if its hash is in the tree.

    Raises:
        Fatal: a body is not the one that was sealed.
    """
    tree = stored_tree(raw)
    for index in range(size - 1, -1, -1):
        (body,) = raw.execute(_LEAF, (index,)).fetchone() or ("",)
        if leaf_hash(body.encode()) != tree.node(0, index):
            raise Fatal(f"the body of leaf {index} is not the one that was sealed: run `monitor audit verify`")
        kind = json.loads(body)["kind"]
        if kind != Kind.RECOVERY:
            return entry_of(kind, body) is not None
    return False


def adopt(connection: Connection, key: bytes, now: datetime) -> None:
    """Authenticates everything that is in the queue without a key, as it stands, in its order; an act says how much.

    For the first batch of this release only, since whoever may write to the database can put anything there. Rows that
    are not even queued are looked for next.
    """
    raw, source, rows, last = driver(connection), EntrySource(key), 0, 0
    while strange := raw.execute(_STRANGE, (last, PIECE)).fetchall():
        owned = []
        for seq, kind, app, subject, part, body in strange:
            entry = Entry(kind, app, subject, part, None)
            if kind not in STORED:
                entry = act_entry(kind=kind, app=app, subject=subject, body=body or {})
            rows += 2 if kind == Kind.INTERACTION and part else 1  # with its assessment
            name, number, mac = source.sign(entry)
            owned.append((name, number, entry.records, mac, seq))
        with raw.cursor() as cursor:
            cursor.executemany(_OWN, owned)
        last = strange[-1][0]
    rows += _queue_acts(connection, key, source, now)
    if rows:  # the last number of the source, so that none before it can be kept for later
        source.queue(raw, [_backfilled(rows, now)], now)
    raw.execute(_FORGET_REQUESTS)  # by migration 0009
    (any_missing,) = raw.execute(_ANY_MISSING).fetchone() or (False,)
    if any_missing:
        _request(raw, EntrySource(key), now, {})


def queue_missing(connection: Connection, key: bytes, now: datetime, asked: str) -> None:
    """Queues what is in no leaf of the next `PIECE` interactions, as the records `asked` of a request say.

    The request says how far the look has come. At the end an act says how many rows were in no leaf. Rows that were
    queued without a key are looked for like all others; an act that was is left where it is.
    """
    raw, source, request = driver(connection), EntrySource(key), act_body(asked)
    if now - datetime.fromisoformat(str(request["at"])) > _VALID:
        log.warning("a request to look for missing rows is older than an hour: nothing was looked for")
        return
    if "after" in request:
        found = int(request["rows"])
    else:
        raw.execute(_FORGET_ROWS)
        found = _queue_acts(connection, key, source, now)
    k = interaction_key.c
    page = select(k.app, k.id).order_by(k.app, k.id).limit(PIECE)
    if "after" in request:
        app, id_ = request["after"]
        page = page.where(text("(app, id) > (:app, :id)").bindparams(app=app, id=id_))
    keys = connection.execute(page).all()
    values = {"apps": [row.app for row in keys], "ids": [row.id for row in keys]}
    for kind in STORED if keys else ():
        query = text(_FIND.format(kind=kind.value, part=PART[kind], unsealed=UNSEALED[kind]))
        entries = [Entry(kind, app, id_, part, None) for app, id_, part in connection.execute(query, values)]
        found += source.queue(raw, entries, now)
    # the last number of the source, so that none before it can be kept for later
    if len(keys) == PIECE:
        _request(raw, source, now, {"after": [keys[-1].app, keys[-1].id], "rows": found})
    elif found:
        source.queue(raw, [_backfilled(found, now)], now)


def _request(raw: psycopg.Connection, source: EntrySource, now: datetime, body: dict[str, Json]) -> None:
    asked: dict[str, Json] = {"by": "monitor", "at": now.isoformat(), **body}
    source.queue(raw, [act_entry(kind=Kind.MISSING, subject="", body=asked)], now)


def _backfilled(rows: int, now: datetime) -> Entry:
    body: dict[str, Json] = {"by": "monitor", "at": now.isoformat(), "rows": rows}
    return act_entry(kind=Kind.BACKFILL, subject="", body=body)


def _queue_acts(connection: Connection, key: bytes, source: EntrySource, now: datetime) -> int:
    recorded = {act.key for act in trail_acts(connection, STORED_ACTS, key)}
    missing = [act for act_key, act in stored_acts(connection).items() if act_key not in recorded]
    entries = [entry_of_act(act) for act in missing]
    return source.queue(driver(connection), entries, now)
