"""Runs one round of alerting at a given time: evaluate the rules, queue notifications, deliver them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.notify.deliver import Delivery, Patience, deliver, deliver_to, purge
from monitor.alert.notify.enqueue import Describe, Link, dispatch
from monitor.alert.ports import AlertStore, Outbox, Receiver
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.state import Transition
from monitor.core.stage import stage


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertLoop:
    """One round of alerting at a given time; the scheduler and the demo both call it.

    `rules` returns the current rules, `describe` returns what describes alerts of given rules, and `noted` is called
    with the rules of each round.
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
        """Evaluates the rules and queues notifications; does nothing while another replica evaluates."""
        with self.store.evaluating() as ours:
            if not ours:
                return []
            with stage("evaluate") as evaluating:
                changes = self._evaluate(now)
                evaluating.add(transitions=len(changes))
            return changes

    def _evaluate(self, now: datetime) -> list[Transition]:
        rules = self.rules()
        self.noted(rules, now)
        changes = evaluate(rules.rules, self.store, now, tuple(self.receivers))
        dispatch(
            rules,
            self.store.alerts(),
            self.outbox,
            now,
            describe=self.describe(rules.rules),
            link=self.link,
            resend=self._resend,
        )
        return changes

    def deliver(self, now: datetime) -> Delivery:
        """Delivers to one receiver after the other with `monitor.alert.notify.deliver.deliver`."""
        return deliver(self.outbox, self.receivers, now, random=self.random, patience=self.patience)

    def deliver_to(self, name: str, now: datetime) -> Delivery:
        """Delivers to one receiver; may run for several receivers at the same time."""
        return deliver_to(self.outbox, name, self.receivers.get(name), now, random=self.random, patience=self.patience)

    def deliver_rest(self, now: datetime) -> Delivery:
        """Handles notifications for receivers that are no longer configured."""
        gone = [name for name in self.outbox.waiting() if name not in self.receivers]
        return sum((self.deliver_to(name, now) for name in gone), start=Delivery())

    def purge(self, now: datetime) -> int:
        """Removes old notifications; returns how many rows."""
        return purge(self.outbox, now)

    @property
    def _resend(self) -> dict[str, timedelta]:
        return {name: receiver.resend for name, receiver in self.receivers.items() if receiver.resend is not None}
