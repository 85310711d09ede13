"""Assembles traces and stores what the inbox holds, beside the events of another source; cheap while nothing comes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from monitor.app.background.timers import Timers
from monitor.app.wiring.application import Application
from monitor.core.batch import Batch, Tally
from monitor.core.errors import MonitorError
from monitor.store.collect.figures import collect_figures
from monitor.store.collect.parts import TraceKey
from monitor.store.interaction.writer import GROUP
from monitor.store.ledger.progress import ReadingStore

log = logging.getLogger(__name__)
_ROUND, _PURGE, _RECORD, _LOOK = 1.0, 30.0, 3.0, 0.2  # seconds between two
_CHUNK = 10_000  # traces that are looked at together


class InboxRun:
    """One run of the flow from the inbox; `tally` is its ledger so far, also after it has failed."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.failure: Exception | None = None


@contextmanager
def collecting(application: Application, stop: Event, written: Callable[[Batch, Tally], None]) -> Iterator[InboxRun]:
    """Runs while the block does; a flow that fails for good sets `stop`, and is raised when the block is left.

    Raises:
        Fatal, OutOfReach: as in `Flow.run`.
    """
    inbox, ended, assembler = InboxRun(), Event(), application.collecting.assembler

    def count(batch: Batch, tally: Tally) -> None:
        inbox.tally += tally
        written(batch, tally)

    flow = application.collecting.flow(ended, count)

    def drain() -> None:
        try:
            flow.run()
        except Exception as error:
            if not isinstance(error, MonitorError):
                log.exception("reading the inbox: a defect")
            inbox.failure = error
            stop.set()
        finally:
            flow.source.close()

    def assemble() -> None:
        while assembler.round() and not ended.is_set():
            continue

    def record() -> None:
        now = application.now()
        if progress := collect_figures(application.engine, GROUP, now).progress:
            ReadingStore(application.engine).note(GROUP, progress, now)

    thread = Thread(target=drain, name="inbox", daemon=True)
    thread.start()
    try:
        with Timers() as timers:
            timers.every(_ROUND, assemble, name="assembly of traces")
            timers.every(_PURGE, assembler.purge, name="purge of spans")
            timers.every(_RECORD, record, name="recording the progress of the inbox", at_once=False)
            try:
                yield inbox
            finally:
                ended.set()
    finally:
        ended.set()
        thread.join()
    if inbox.failure is not None:
        raise inbox.failure


def finish(application: Application, traces: Iterable[TraceKey], stop: Event) -> None:
    """Closes these traces at once, and returns when their turns are stored, whoever stores them, or `stop` is set.

    May raise `Retriable`.
    """
    store, assembler, keys = application.collecting.store, application.collecting.assembler, list(traces)
    chunks = [keys[first : first + _CHUNK] for first in range(0, len(keys), _CHUNK)]
    for chunk in chunks:
        store.hasten(chunk)
    for chunk in chunks:
        while store.open_of(chunk) and not stop.is_set():
            if not assembler.round():  # another process has them in hand
                stop.wait(_LOOK)
    ends = store.ends()
    while store.unread(GROUP, ends) and not stop.is_set():
        stop.wait(_LOOK)
