"""Looks at personal data in clear: each is queued for the audit trail before anything is shown."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Engine

from monitor.store.audit_queue import Act, Kind, queue_act
from monitor.store.database import retriable


def keep_look(engine: Engine, *, by: str, now: datetime, app: str, subject: str, fields: Sequence[str]) -> None:
    """Queues that `by` is about to see these fields of an interaction or dead letter.

    Raises:
        Retriable: the database is out of reach; nothing may be shown then.
    """
    act = Act(kind=Kind.LOOK, by=by, at=now, app=app, subject=subject, body={"fields": list(fields)})
    with retriable(), engine.begin() as connection:
        queue_act(connection, act)
