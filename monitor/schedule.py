"""What happens by the clock: the alert rules are evaluated, and what they have to say is delivered."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import TypeVar

from apscheduler.schedulers.background import BackgroundScheduler

from monitor.alert.evaluate import evaluate
from monitor.alert.notify import Delivery, Patience, deliver
from monitor.alert.outbox import Describe, Link, dispatch
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.state import Transition
from monitor.errors import MonitorError
from monitor.ports import AlertStore, Outbox, Receiver

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertLoop:
    """One round of alerting at a given time; the scheduler and the demo both turn this handle.

    `rules` gives the rules that hold now, `describe` says what changed about an alert under its rule.
    """

    rules: Callable[[], RuleSet]
    store: AlertStore
    outbox: Outbox
    receivers: Mapping[str, Receiver]
    describe: Callable[[Sequence[Rule]], Describe]
    link: Link
    patience: Patience = field(default_factory=Patience)
    random: Random = field(default_factory=Random)

    def evaluate(self, now: datetime) -> list[Transition]:
        """Evaluates the rules and puts into the outbox what is to be told; nothing where another replica does it."""
        with self.store.evaluating() as ours:
            if not ours:
                return []
            rules = self.rules()
            changes = evaluate(rules.rules, self.store, now, tuple(self.receivers))
            dispatch(
                rules, self.store.alerts(), self.outbox, now,
                describe=self.describe(rules.rules), link=self.link, resend=self._resend,
            )  # fmt: skip
            return changes

    def deliver(self, now: datetime) -> Delivery:
        """See `monitor.alert.notify`."""
        return deliver(self.outbox, self.receivers, now, random=self.random, patience=self.patience)

    @property
    def _resend(self) -> dict[str, timedelta]:
        return {name: often for name, its in self.receivers.items() if (often := its.resend) is not None}


@contextmanager
def scheduled(loop: AlertLoop, *, interval: float, now: Callable[[], datetime]) -> Iterator[None]:
    """Turns `loop` every `interval` seconds in the background while the block runs.

    A round that fails is logged and the next one comes in time; leaving waits for the round that is running.
    """

    def evaluate_once() -> None:
        for change in _survive(lambda: loop.evaluate(now())) or ():
            log.info("alert %s: %s", change.alert.rule, change.alert.state)
        deliver_once()  # what was found is told at once

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
