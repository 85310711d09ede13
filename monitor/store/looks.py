"""Acts that stand alone: what somebody did that changes no other row, such as a look at data in clear."""

from __future__ import annotations

from sqlalchemy import Engine

from monitor.store.audit_queue import Act, queue_act
from monitor.store.database import retriable


def keep_act(engine: Engine, act: Act) -> None:
    """Queues it for the audit trail; only once this has returned may be done what it tells of.

    Raises:
        Retriable: the database is out of reach; it is not kept.
    """
    with retriable(), engine.begin() as connection:
        queue_act(connection, act)
