"""Shrinks what earlier releases stored in the rollup, a piece at a time, so that events do not wait for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

from monitor.app.background.timers import Timers
from monitor.app.wiring.application import Application
from monitor.store.interaction.trim import trim_piece

_LOOK_EVERY = 600.0  # seconds
_PAUSE = 0.1  # seconds after each piece, in which the database has its time for others


@contextmanager
def trimming(application: Application) -> Iterator[None]:
    """Trims what there is while the block runs; a piece in work is finished at its end."""
    stop = Event()

    def trim() -> None:
        while trim_piece(application.engine, application.now()) and not stop.wait(_PAUSE):
            pass

    with Timers() as timers:
        timers.every(_LOOK_EVERY, trim, name="trimming of the rollup")
        try:
            yield
        finally:
            stop.set()
