"""Calls off the pending work of interactions that are erased or removed, and keeps the ledger in step.

A message whose interaction waits for its first assessment counts as pending. When nobody will assess it any more, it
moves to `assessed`, and to `called_off`, which says how many of these never were.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, text

from monitor.core.pending import Work
from monitor.store.audit_queue import driver
from monitor.store.ledger.offsets import lock_ledgers

_DELETE = """
    WITH gone_work AS (
        DELETE FROM pending t USING {gone} WHERE t.app = {app} AND t.interaction_id = gone.id
        RETURNING t.kind, t.group_id, t.app, t.interaction_id, t.occurred_at
    )
    SELECT w.group_id, i.source_topic, i.source_partition, count(*)
    FROM gone_work w JOIN interaction i ON i.app = w.app AND i.id = w.interaction_id AND i.occurred_at = w.occurred_at
    WHERE w.kind = :assess AND i.source_topic IS NOT NULL
    GROUP BY 1, 2, 3
"""
_MOVE = """
    UPDATE consumer_offset SET pending = pending - %s, assessed = assessed + %s, called_off = called_off + %s
    WHERE group_id = %s AND topic = %s AND partition = %s
"""


def call_off(connection: Connection, *, gone: str, app: str, values: Mapping[str, object]) -> None:
    """Deletes the work on the interactions of `gone`: a FROM item of that name, with their ids and `values`.

    `app` is their app in SQL. Waits for a worker that is about to store a result. Like a worker, it locks the work
    before the ledger.
    """
    deleted = connection.execute(text(_DELETE.format(gone=gone, app=app)), {**values, "assess": Work.ASSESS.value})
    moves = {(group, topic, partition): number for group, topic, partition, number in deleted}
    if moves:
        raw = driver(connection)
        lock_ledgers(raw, moves)
        with raw.cursor() as cursor:
            cursor.executemany(_MOVE, [(n, n, n, *account) for account, n in moves.items()])
