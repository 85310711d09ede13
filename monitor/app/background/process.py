"""Runs work in a child process: what it computes never takes the interpreter from the events."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event, Thread
from typing import TypeAlias

from monitor.app.logs import log_defect, log_defects_of_threads, log_to_stderr
from monitor.app.metrics.stage_times import EndedStage, StageTimes
from monitor.core.errors import MonitorError
from monitor.core.settings.load import Settings
from monitor.core.stage import observed_by

log = logging.getLogger(__name__)

_NICENESS = 10  # events go first where both want the processor
_LOOK_EVERY = 0.2  # seconds between two looks at whether the process is alive
_RESTART_AFTER = 10.0  # seconds
_TELL_EVERY = 1.0  # seconds between two messages to the parent
_MOST_STAGES = 10_000  # kept for a parent that does not read
# A function of a module, which returns when the other end of the connection is closed.
Work: TypeAlias = Callable[[Settings, Connection], None]
Ended: TypeAlias = Callable[[EndedStage], object]


@contextmanager
def child_process(work: Work, settings: Settings, *, name: str, grace: float, ended: Ended) -> Iterator[None]:
    """Keeps a process running that does `work` while the block runs; one that dies is replaced.

    `ended` gets its stages, on a thread of ours. At the end the process is asked to stop, and killed if it still runs
    after `grace` seconds.
    """
    stop = Event()
    supervisor = Thread(
        target=_supervise,
        args=(work, settings, stop),
        kwargs={"name": name, "grace": grace, "ended": ended},
        name=name,
        daemon=True,
    )
    supervisor.start()
    try:
        yield
    finally:
        stop.set()
        supervisor.join()


def _supervise(work: Work, settings: Settings, stop: Event, *, name: str, grace: float, ended: Ended) -> None:
    context = get_context("spawn")
    while not stop.is_set():
        ours, theirs = context.Pipe()
        level = logging.getLogger("monitor").getEffectiveLevel()
        process = context.Process(
            target=_run, args=(work, settings, theirs, level, name), name=f"monitor-{name}", daemon=True
        )
        try:
            process.start()
        except OSError as error:  # no memory, or too many processes
            log.warning(
                "no process for %s can be started: %s; trying again in %g s", name, error.strerror, _RESTART_AFTER
            )
            ours.close()
            theirs.close()
            stop.wait(_RESTART_AFTER)
            continue
        theirs.close()
        while process.is_alive() and not stop.wait(_LOOK_EVERY):
            with suppress(EOFError, OSError):  # it is dying
                while ours.poll():
                    for stage in ours.recv():
                        ended(stage)
        ours.close()  # tells the process to end
        process.join(grace)
        if process.is_alive():
            process.kill()
            process.join()
        if not stop.is_set():
            log.error(
                "the process for %s ended with exit code %s; starting another in %g s",
                name,
                process.exitcode,
                _RESTART_AFTER,
            )
            stop.wait(_RESTART_AFTER)


def _run(work: Work, settings: Settings, parent: Connection, level: int, name: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # the whole process group gets them; the parent ends us in order
        signal.signal(number, signal.SIG_IGN)
    os.nice(_NICENESS)
    log_to_stderr(level, settings.log_format, command=name)
    log_defects_of_threads()
    try:
        with _told(parent):
            work(settings, parent)
    except MonitorError as error:
        log.error("%s: %s", name, error)  # noqa: TRY400  the message is enough, a traceback adds nothing
        sys.exit(1)
    except Exception as error:  # noqa: BLE001  multiprocessing would print its text
        log_defect(error)
        sys.exit(1)


@contextmanager
def _told(parent: Connection) -> Iterator[None]:
    """Tells the parent of the stages that end in the block; it serves the metrics of both processes."""
    ended: deque[EndedStage] = deque(maxlen=_MOST_STAGES)  # what ends a stage must not wait for the parent
    over = Event()

    def tell() -> None:
        with suppress(OSError):  # the parent is gone, or wants us to end
            while not over.wait(_TELL_EVERY):
                if stages := [ended.popleft() for _ in range(len(ended))]:
                    parent.send(stages)

    Thread(target=tell, name="telling of stages", daemon=True).start()
    try:
        with observed_by(StageTimes(ended.append)):
            yield
    finally:
        over.set()
