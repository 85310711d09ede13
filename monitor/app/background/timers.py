"""Runs work by the clock, on APScheduler: every timer of the program is started here."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from threading import Thread
from time import monotonic
from typing import Any, Self

from apscheduler.events import EVENT_JOB_EXECUTED
from apscheduler.executors.base import BaseExecutor, run_job
from apscheduler.jobstores.base import JobLookupError
from apscheduler.schedulers.background import BackgroundScheduler
from typing_extensions import override

from monitor.core.errors import MonitorError

log = logging.getLogger(__name__)
Work = Callable[[], object]
_FIRST_PAUSE, _LONGEST_PAUSE = 10.0, 60.0  # seconds between two warnings of one outage
_LOOK_EVERY = 5.0  # seconds, at most, between two looks at whether the clock was set


class Timers:
    """Runs each piece of work again and again while the block runs, each round on a thread of its own.

    No work waits for another, and none runs twice at the same time. A round that fails is logged as `Rounds`
    says, and the next one comes in time. A clock that is set back delays a round by one interval or by 5 s at most,
    whichever is longer; one that is set ahead makes one round begin early, however many intervals it leaps over.
    Leaving the block waits for the rounds that are running, and begins no more.
    """

    def __init__(self) -> None:
        self._threads = _DaemonThreads()
        self._scheduler = _Scheduler(
            timezone="UTC",
            executors={"default": self._threads},
            job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None},
        )
        self._scheduler.add_listener(self._after_round, EVENT_JOB_EXECUTED)
        self._woken: set[str] = set()  # names of work that was woken since its last round began

    def __enter__(self) -> Self:
        self._scheduler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._scheduler.shutdown(wait=False)  # with wait=True it holds a lock that a round needs to wake other work
        self._threads.join()

    def every(self, seconds: float, work: Work, *, name: str, at_once: bool = True) -> Callable[[], None]:
        """Runs `work` every `seconds`, beginning now or, without `at_once`, after the first interval.

        Returns a function that does what `wake` does. `name` is unique among the timers of the block.
        """
        rounds = Rounds(work, name)

        def one_round() -> None:
            self._woken.discard(name)
            rounds()

        first = {"next_run_time": datetime.now(UTC)} if at_once else {}
        self._scheduler.add_job(one_round, "interval", seconds=seconds, id=name, name=name, **first)
        return partial(self.wake, name)

    def wake(self, name: str) -> None:
        """Has a round of that name begin now; called during a round, it has another one follow. Any thread may call."""
        self._woken.add(name)
        self._run_now(name)

    def _run_now(self, name: str) -> None:
        """Skipped by the scheduler while a round is running; `_after_round` makes up for it."""
        with suppress(JobLookupError):  # the block is being left
            self._scheduler.modify_job(name, next_run_time=datetime.now(UTC))

    def _after_round(self, event: Any) -> None:
        if event.job_id in self._woken:
            self._run_now(event.job_id)


class Rounds:
    """The rounds of one piece of work. Logs what they raise, and never raises it.

    Of failures that follow each other it logs the first, then one after each of growing pauses, and when they are over;
    every defect is logged. `now` returns seconds.
    """

    def __init__(self, work: Work, name: str, *, now: Callable[[], float] = monotonic) -> None:
        self._work, self._name, self._now = work, name, now
        self._since: float | None = None  # when the first of the present failures was raised
        self._pause = self._warn_at = 0.0

    def __call__(self) -> None:
        try:
            self._work()
        except MonitorError as error:
            self._failed(error)
        except Exception:
            log.exception("%s: a defect; trying again in the next round", self._name)
        else:
            if self._since is not None:
                log.info("%s: works again after %.0f s", self._name, self._now() - self._since)
                self._since = None

    def _failed(self, error: MonitorError) -> None:
        now = self._now()
        if self._since is None:
            self._since, self._pause = now, _FIRST_PAUSE
            log.warning("%s: %s; trying again in the next round", self._name, error)
        elif now >= self._warn_at:
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            log.warning("%s: %s; failing for %.0f s now", self._name, error, now - self._since)
        else:
            return
        self._warn_at = now + self._pause


def survive(work: Work, name: str) -> None:
    """Does `work` once, and logs what it raises."""
    Rounds(work, name)()


class _Scheduler(BackgroundScheduler):  # type: ignore[misc]  # APScheduler ships no types
    """Keeps to the intervals of its jobs when the clock is set.

    APScheduler keeps the clock's time of each job's next round. Without this class it would wait for that time after
    the clock was set back, and list every time that was leapt over after it was set ahead: decades of them fill the
    memory.
    """

    @override
    def _process_jobs(self) -> float | None:
        """Runs at the end of each wait of the main loop, and returns the seconds until the next one."""
        now = datetime.now(UTC)
        for job in self.get_jobs():
            if abs(job.next_run_time - now) > job.trigger.interval:  # the clock was set
                with suppress(JobLookupError):  # the scheduler is being shut down
                    job.modify(next_run_time=now)
        wait = super()._process_jobs()
        return None if wait is None else min(wait, _LOOK_EVERY)  # None: there is no job yet


class _DaemonThreads(BaseExecutor):  # type: ignore[misc]  # APScheduler ships no types
    """Starts a daemon thread for each round: unlike a pool's, it does not hold up a program that is interrupted."""

    def __init__(self) -> None:
        super().__init__()
        self._started: list[Thread] = []

    def join(self) -> None:
        for thread in self._started:
            thread.join()

    @override
    def _do_submit_job(self, job: Any, run_times: list[datetime]) -> None:
        thread = Thread(target=self._run, args=(job, run_times), name=job.name, daemon=True)
        self._started = [*(other for other in self._started if other.is_alive()), thread]
        thread.start()

    def _run(self, job: Any, run_times: list[datetime]) -> None:
        self._run_job_success(job.id, run_job(job, "default", run_times, self._logger.name))
