"""Work in a process of its own beside the events: what it computes never takes the interpreter from them."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event, Thread
from typing import TypeAlias

from monitor.app.logs import log_to_stderr
from monitor.core.errors import MonitorError
from monitor.core.settings.load import Settings

log = logging.getLogger(__name__)

_NICENESS = 10  # where both want the processor, events go first
_LOOK = 0.2  # seconds between two looks whether it is alive
_RESTART = 10.0
# A function of a module, which ends when the other end of the connection is closed.
Work: TypeAlias = Callable[[Settings, Connection], None]


@contextmanager
def beside(work: Work, settings: Settings, *, name: str, grace: float) -> Iterator[None]:
    """Has a process do `work` while the block runs; one that dies is replaced.

    At the end it is asked to stop, and killed when it has not after `grace` seconds.
    """
    stop = Event()
    supervisor = Thread(target=_supervise, args=(work, settings, name, grace, stop), name=name, daemon=True)
    supervisor.start()
    try:
        yield
    finally:
        stop.set()
        supervisor.join()


def _supervise(work: Work, settings: Settings, name: str, grace: float, stop: Event) -> None:
    context = get_context("spawn")
    while not stop.is_set():
        ours, theirs = context.Pipe()
        level = logging.getLogger("monitor").getEffectiveLevel()
        process = context.Process(
            target=_run, args=(work, settings, theirs, level, name), name=f"monitor-{name}", daemon=True
        )
        process.start()
        theirs.close()
        while process.is_alive() and not stop.wait(_LOOK):
            pass
        ours.close()  # it ends with this
        process.join(grace)
        if process.is_alive():
            process.kill()
            process.join()
        if not stop.is_set():
            log.error("the process for %s ended with %s; another one follows", name, process.exitcode)
            stop.wait(_RESTART)


def _run(work: Work, settings: Settings, parent: Connection, level: int, name: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # which the whole group gets: the parent ends us in order
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICENESS)
    log_to_stderr(level)
    try:
        work(settings, parent)
    except MonitorError as error:
        log.error("%s: %s", name, error)  # noqa: TRY400  an error that has a name needs no traceback
        sys.exit(1)
