"""The workers in a process of their own: what they compute never takes the interpreter from the events."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event, Thread

from pydantic import SecretStr

from monitor.app import Application
from monitor.errors import MonitorError
from monitor.pending.workers import GRACE, working
from monitor.settings import Settings
from monitor.store.pending import Pending
from monitor.terminal import log_to_stderr

log = logging.getLogger(__name__)

_NICENESS = 10  # where both want the processor, events go first
_LOOK = 0.2  # seconds between two looks whether it is alive
_RESTART = 10.0


@contextmanager
def worked_beside(application: Application) -> Iterator[None]:
    """Has a process at the pending work while the block runs, if there is some, or the settings make some.

    One that dies is replaced; what it had in its hands is done when its claims have lapsed.

    Raises:
        WrongSettings: the judge has no model, or no key.
        Retriable: the database is out of reach.
    """
    judged = application.language_models.judge is not None
    left = any(count.waiting for count in Pending(application.engine).counts(application.now()))
    if not (judged or left or makes_work(application.settings)):
        yield
        return
    url = SecretStr(application.database_url)
    settings = application.settings.model_copy(update={"database_url": url})
    stop = Event()
    supervisor = Thread(target=_supervise, args=(settings, stop), name="pending", daemon=True)
    supervisor.start()
    try:
        yield
    finally:
        stop.set()
        supervisor.join()


def makes_work(settings: Settings) -> bool:
    """Whether anything can be left undone with the event: where a model of another process is asked."""
    return settings.embedding.provider == "openai" or settings.sidecar.mode != "off" or settings.judge.mode != "off"


def _supervise(settings: Settings, stop: Event) -> None:
    context = get_context("spawn")
    while not stop.is_set():
        ours, theirs = context.Pipe()
        level = logging.getLogger("monitor").getEffectiveLevel()
        process = context.Process(target=_work, args=(settings, theirs, level), name="monitor-pending", daemon=True)
        process.start()
        theirs.close()
        while process.is_alive() and not stop.wait(_LOOK):
            pass
        ours.close()  # it ends with this
        process.join(2 * GRACE)
        if process.is_alive():
            process.kill()
            process.join()
        if not stop.is_set():
            log.error("the process for pending work ended with %s; another one follows", process.exitcode)
            stop.wait(_RESTART)


def _work(settings: Settings, parent: Connection, level: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # which the whole group gets: the parent ends us in order
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICENESS)
    log_to_stderr(level)
    try:
        with Application(settings) as application, working(application), suppress(EOFError, OSError):
            parent.recv()  # until the other end is closed, by whatever end
    except MonitorError as error:
        log.error("pending work: %s", error)  # noqa: TRY400  an error that has a name needs no traceback
        sys.exit(1)
