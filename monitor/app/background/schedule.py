"""What happens by the clock: alert rules are evaluated, what they have to say is delivered, reports are written."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from random import Random
from threading import Event, Thread
from typing import TypeVar

from apscheduler.schedulers.background import BackgroundScheduler

from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.notify.deliver import Delivery, Patience, deliver, deliver_to, purge
from monitor.alert.notify.outbox import Describe, Link, dispatch
from monitor.alert.ports import AlertStore, Outbox, Receiver
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.state import Alert, Transition
from monitor.alert.wording import plain
from monitor.core.errors import MonitorError

log = logging.getLogger(__name__)
T = TypeVar("T")

_PURGE_EVERY = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertLoop:
    """One round of alerting at a given time; the scheduler and the demo both turn this handle.

    `rules` gives the rules that hold now, `describe` says what changed about an alert under its rule; `noted` is told
    of the rules of each round.
    """

    rules: Callable[[], RuleSet]
    store: AlertStore
    outbox: Outbox
    receivers: Mapping[str, Receiver]
    describe: Callable[[Sequence[Rule]], Describe]
    link: Link
    noted: Callable[[RuleSet, datetime], None] = lambda _rules, _now: None
    patience: Patience = field(default_factory=Patience)
    random: Random = field(default_factory=Random)

    def evaluate(self, now: datetime) -> list[Transition]:
        """Evaluates the rules and puts into the outbox what is to be told; nothing where another replica does it."""
        with self.store.evaluating() as ours:
            if not ours:
                return []
            rules = self.rules()
            self.noted(rules, now)
            changes = evaluate(rules.rules, self.store, now, tuple(self.receivers))
            dispatch(
                rules, self.store.alerts(), self.outbox, now,
                describe=self.describe(rules.rules), link=self.link, resend=self._resend,
            )  # fmt: skip
            return changes

    def deliver(self, now: datetime) -> Delivery:
        """Delivers to one receiver after the other, see `monitor.alert.notify.deliver`."""
        return deliver(self.outbox, self.receivers, now, random=self.random, patience=self.patience)

    def deliver_to(self, name: str, now: datetime) -> Delivery:
        """Delivers to one of them; receivers may be delivered to at the same time."""
        return deliver_to(self.outbox, name, self.receivers.get(name), now, random=self.random, patience=self.patience)

    def deliver_rest(self, now: datetime) -> Delivery:
        """Sees to what waits for receivers that are not configured any more."""
        gone = [name for name in self.outbox.waiting() if name not in self.receivers]
        return sum((self.deliver_to(name, now) for name in gone), start=Delivery())

    def purge(self, now: datetime) -> int:
        """Removes what nobody needs of what was told; how many rows."""
        return purge(self.outbox, now)

    @property
    def _resend(self) -> dict[str, timedelta]:
        return {name: often for name, its in self.receivers.items() if (often := its.resend) is not None}


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
