"""Says now and then how far a source was stored, for the evaluator of the alerts, in whichever process that is."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Event, Thread

from monitor.core.errors import MonitorError
from monitor.core.message import Progress
from monitor.core.ports import Source

log = logging.getLogger(__name__)
EVERY = 3.0  # seconds
Note = Callable[[Sequence[Progress], datetime], None]


@contextmanager
def noted(source: Source, note: Note, now: Callable[[], datetime], *, every: float = EVERY) -> Iterator[None]:
    """Calls `note` with the progress of `source` every so many seconds while the block runs, and once at its end.

    What fails is tried again the next time; until then the last note holds, and ages.
    """
    over = Event()

    def note_once() -> None:
        try:
            note(source.progress(), now())
        except MonitorError as error:
            log.warning("how far was read is not noted: %s", error)

    def keep_noting() -> None:
        while not over.wait(every):
            note_once()
        note_once()

    thread = Thread(target=keep_noting, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
