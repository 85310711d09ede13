"""Work that takes longer than a page: one of each name at a time, in the background of this process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Event, Lock, Thread
from typing import TypeAlias

from monitor.core.errors import MonitorError

log = logging.getLogger(__name__)

Report: TypeAlias = Callable[[str], None]  # takes a sentence of how far it is
Work: TypeAlias = Callable[[Report, Event], str]  # gives a sentence of what it came to; the event asks it to stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work: who began it, and how far it is, or what it came to, in a sentence."""

    name: str
    by: str
    began_at: datetime
    said: str
    ended_at: datetime | None = None
    failed: bool = False

    @property
    def at_work(self) -> bool:
        """Whether it goes on."""
        return self.ended_at is None


class Jobs:
    """Safe to use from several threads. Of each name the last job is remembered, as long as the process lives."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._lock = Lock()
        self._jobs: dict[str, Job] = {}
        self._threads: dict[str, Thread] = {}
        self._stop = Event()

    def of(self, name: str) -> Job | None:
        """The one that is at work, or the last one."""
        with self._lock:
            return self._jobs.get(name)

    def start(self, name: str, work: Work, *, by: str) -> bool:
        """Begins `work` unless one of that name goes on; whether it did."""
        with self._lock:
            before = self._jobs.get(name)
            if before is not None and before.at_work:
                return False
            self._jobs[name] = Job(name=name, by=by, began_at=self._now(), said="at work")
            thread = Thread(target=self._run, args=(name, work), name=f"job-{name}", daemon=True)
            self._threads[name] = thread
            thread.start()  # while the lock is held, so that nobody waits for a thread that has not begun
        return True

    def wait(self, name: str) -> None:
        """Until it has ended."""
        thread = self._threads.get(name)
        if thread is not None:
            thread.join()

    def stop(self) -> None:
        """Asks all of them to end, and waits."""
        self._stop.set()
        for thread in list(self._threads.values()):
            thread.join()

    def _run(self, name: str, work: Work) -> None:
        failed = True
        try:
            said = work(lambda sentence: self._put(name, said=sentence), self._stop)
            failed = False
        except MonitorError as error:
            log.warning("%s: %s", name, error)
            said = str(error).partition("\n")[0]
        except Exception:
            log.exception("%s failed", name)
            said = "it failed by a defect, or a broken installation; the log says more"
        self._put(name, said=said, ended_at=self._now(), failed=failed)

    def _put(self, name: str, **changes: object) -> None:
        with self._lock:
            self._jobs[name] = replace(self._jobs[name], **changes)  # type: ignore[arg-type]
