"""Ends long database work when the process is asked to stop, whatever statement it is at."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread, get_ident
from typing import Any

from sqlalchemy import Engine, event, text
from sqlalchemy.exc import SQLAlchemyError

log = logging.getLogger(__name__)
_PACE = 0.1  # seconds between looks at the event
_END = text("SELECT pg_terminate_backend(pid) FROM unnest(CAST(:pids AS int[])) AS pid")


@contextmanager
def ended_on(stop: Event, engine: Engine) -> Iterator[None]:
    """Ends the sessions that this thread has taken from `engine` when `stop` is set before the block ends.

    The next thing that the block asks of the database then raises `Retriable`, which the caller has to expect.
    """
    ours, pids, done = get_ident(), set[int](), Event()

    def taken(connection: Any, *_: object) -> None:
        if get_ident() == ours:
            pids.add(connection.info.backend_pid)

    def returned(connection: Any, *_: object) -> None:
        if connection is not None:
            pids.discard(connection.info.backend_pid)

    def watch() -> None:
        while not done.wait(_PACE):
            if stop.is_set() and pids:
                try:
                    with engine.connect() as connection:
                        connection.execute(_END, {"pids": list(pids)})
                except SQLAlchemyError as error:
                    log.warning("database work goes on although it should stop: %s", error)

    event.listen(engine, "checkout", taken)
    event.listen(engine, "checkin", returned)
    watcher = Thread(target=watch, name="stopping", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        event.remove(engine, "checkout", taken)
        event.remove(engine, "checkin", returned)
