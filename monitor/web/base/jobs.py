"""Runs work that takes longer than a page, in the background of this process: one job of each name at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Event, Lock, Thread
from typing import TypeAlias

from monitor.core.errors import MonitorError

log = logging.getLogger(__name__)

Progress: TypeAlias = Callable[[str], None]  # takes a sentence that says how far the work is
Work: TypeAlias = Callable[[Progress, Event], str]  # returns a sentence with the result; the event asks it to stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work. `status` is a sentence: how far it is, or what came of it."""

    name: str
    by: str
    began_at: datetime
    status: str
    ended_at: datetime | None = None
    failed: bool = False

    @property
    def running(self) -> bool:
        return self.ended_at is None


class Jobs:
    """Remembers the last job of each name while the process lives. Safe to use from several threads."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}
        self._threads: dict[str, Thread] = {}
        self._stop = Event()

    def latest(self, name: str) -> Job | None:
        """The job of that name that runs, or ran last."""
        with self._lock:
            return self._jobs.get(name)

    def start(self, name: str, work: Work, *, by: str) -> bool:
        """Starts `work` unless a job of that name runs; returns whether it did."""
        with self._lock:
            before = self._jobs.get(name)
            if before is not None and before.running:
                return False
            self._jobs[name] = Job(name=name, by=by, began_at=self._now(), status="started")
            thread = Thread(target=self._run, args=(name, work), name=f"job-{name}", daemon=True)
            self._threads[name] = thread
            thread.start()  # under the lock, so that `wait` never joins a thread that has not started
        return True

    def wait(self, name: str) -> None:
        """Waits until the job of that name has ended."""
        thread = self._threads.get(name)
        if thread is not None:
            thread.join()

    def stop(self) -> None:
        """Asks all jobs to end, and waits for them."""
        self._stop.set()
        for thread in list(self._threads.values()):
            thread.join()

    def _run(self, name: str, work: Work) -> None:
        failed = True
        try:
            status = work(lambda sentence: self._update(name, status=sentence), self._stop)
            failed = False
        except MonitorError as error:
            log.warning("%s: %s", name, error)
            status = str(error).partition("\n")[0]
        except Exception:
            log.exception("%s failed", name)
            status = "this is a defect, or the installation is broken; the log has the details"
        self._update(name, status=status, ended_at=self._now(), failed=failed)

    def _update(self, name: str, **changes: object) -> None:
        with self._lock:
            self._jobs[name] = replace(self._jobs[name], **changes)  # type: ignore[arg-type]
