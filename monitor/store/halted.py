"""Transactions whose process was halted, or cut off, while the server waits for the rest of what it has to say.

A server's own timeouts do not end a `COPY` that waits for its client. So whoever waits for its rows ends it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psycopg

HALTED = 15.0  # seconds of a transaction that waits for its client; a batch takes a fraction of that
log = logging.getLogger(__name__)
_END = """
    SELECT a.pid, pg_terminate_backend(a.pid) FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.usename = current_user AND a.wait_event = 'ClientRead'
      AND a.xact_start < clock_timestamp() - make_interval(secs => %s)
      AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted
                  AND l.relation = 'consumer_offset'::regclass AND l.mode = 'RowExclusiveLock')
"""


def end_halted(connection: psycopg.Connection) -> None:
    """Ends those of other processes that hold offsets and have not gone on for `HALTED` seconds.

    Nothing of them was stored; where such a process goes on after all, its connection is gone and it reads again.
    """
    with connection.transaction():
        ended = connection.execute(_END, (HALTED,)).fetchall()
    for pid, _ in ended:
        log.warning("the database's process %d waited for a halted reader, and was ended", pid)
