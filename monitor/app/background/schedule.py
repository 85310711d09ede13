"""What happens by the clock: alert rules are evaluated, what they have to say is delivered, reports are written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from threading import Event, Thread
from typing import TypeVar

from apscheduler.schedulers.background import BackgroundScheduler

from monitor.alert.notify.loop import AlertLoop
from monitor.alert.state import Alert
from monitor.core.errors import MonitorError
from monitor.core.text.plain import plain

log = logging.getLogger(__name__)
T = TypeVar("T")

_PURGE_EVERY = 3600.0


@contextmanager
def scheduled(loop: AlertLoop, *, interval: float, now: Callable[[], datetime]) -> Iterator[None]:
    """Turns `loop` every `interval` seconds in the background while the block runs.

    Evaluation and each receiver have a thread of their own, so that none waits for another; what was found is told at
    once. A round that fails is logged and the next one comes in time; leaving waits for the rounds that are running.
    """
    deliverers = [_Turning(partial(_at, now, partial(loop.deliver_to, name)), interval) for name in loop.receivers]
    deliverers.append(_Turning(partial(_at, now, loop.deliver_rest), interval))

    def evaluate_once() -> None:
        for change in _survive(partial(_at, now, loop.evaluate)) or ():
            log.info("alert %s (%s): %s", change.alert.rule, _labels(change.alert), change.alert.state)
        for deliverer in deliverers:
            deliverer.wake()

    def purge_once() -> None:
        _survive(partial(_at, now, loop.purge))

    scheduler = BackgroundScheduler(
        timezone="UTC", job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
    )
    for job, seconds in ((evaluate_once, interval), (purge_once, _PURGE_EVERY)):
        scheduler.add_job(job, "interval", seconds=seconds, next_run_time=now())
    for deliverer in deliverers:
        deliverer.start()
    scheduler.start()
    try:
        yield
    finally:
        for deliverer in deliverers:
            deliverer.end()
        scheduler.shutdown(wait=True)
        for deliverer in deliverers:
            deliverer.join()


@contextmanager
def repeated(work: Callable[[datetime], object], *, interval: float, now: Callable[[], datetime]) -> Iterator[None]:
    """Does `work` at once and then every `interval` seconds in the background while the block runs.

    A round that fails is logged and the next one comes in time; leaving waits for the round that is running.
    """
    turning = _Turning(partial(_at, now, work), interval)
    turning.start()
    try:
        yield
    finally:
        turning.end()
        turning.join()


class _Turning(Thread):
    """Does `work` at once, then every `interval` seconds and when it is woken, until it is ended.

    Whoever wakes it while it works has it work once more.
    """

    def __init__(self, work: Callable[[], object], interval: float) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._interval = interval
        self._woken = Event()
        self._over = Event()

    def run(self) -> None:
        """As `Thread` has it."""
        while True:
            self._woken.clear()
            if self._over.is_set():
                return
            _survive(self._work)
            self._woken.wait(self._interval)

    def wake(self) -> None:
        """Has it work now."""
        self._woken.set()

    def end(self) -> None:
        """Has it end once the work at hand is done."""
        self._over.set()
        self._woken.set()


def _at(now: Callable[[], datetime], work: Callable[[datetime], T]) -> T:
    return work(now())


def _labels(alert: Alert) -> str:
    return ", ".join(plain(f"{name}={value}") for name, value in alert.labels.items() if value)


def _survive(work: Callable[[], T]) -> T | None:
    try:
        return work()
    except MonitorError as error:
        log.warning("%s; trying again in the next round", error)
    except Exception:
        log.exception("a defect in what happens by the clock; trying again in the next round")
    return None
