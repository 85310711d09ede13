"""What happens by the clock: the alert rules are evaluated, and what they have to say is delivered."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import TypeVar

from apscheduler.schedulers.background import BackgroundScheduler

from monitor.alert.evaluate import Examples, Link, evaluate
from monitor.alert.notify import Delivery, deliver
from monitor.alert.rule import Rule
from monitor.alert.state import Transition
from monitor.errors import MonitorError
from monitor.ports import AlertStore, Receiver

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertLoop:
    """One round of alerting at a given time; the scheduler and the demo both turn this handle."""

    rules: Sequence[Rule]
    store: AlertStore
    receivers: Mapping[str, Receiver]
    examples: Examples
    link: Link
    random: Random = field(default_factory=Random)

    def evaluate(self, now: datetime) -> list[Transition]:
        """See `monitor.alert.evaluate`."""
        names: Collection[str] = tuple(self.receivers)
        return evaluate(self.rules, self.store, now, names, self.examples, link=self.link)

    def deliver(self, now: datetime) -> Delivery:
        """See `monitor.alert.notify`."""
        return deliver(self.store, self.receivers, now, random=self.random)


@contextmanager
def scheduled(loop: AlertLoop, *, interval: float, now: Callable[[], datetime]) -> Iterator[None]:
    """Turns `loop` every `interval` seconds in the background while the block runs.

    A round that fails is logged and the next one comes in time; leaving waits for the round that is running.
    """

    def evaluate_once() -> None:
        for change in _survive(lambda: loop.evaluate(now())) or ():
            log.info("alert %s: %s", change.alert.rule, change.alert.state)

    def deliver_once() -> None:
        _survive(lambda: loop.deliver(now()))

    scheduler = BackgroundScheduler(
        timezone="UTC", job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
    )
    for job in (evaluate_once, deliver_once):
        scheduler.add_job(job, "interval", seconds=interval, next_run_time=now())
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=True)


def _survive(work: Callable[[], T]) -> T | None:
    try:
        return work()
    except MonitorError as error:
        log.warning("%s; trying again in the next round", error)
    return None
