"""An alert rule, the grouping of alerts, and the set of both that a rules file defines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from monitor.alert.methods.method import Method
from monitor.alert.mute import NEVER_MUTED, MuteTimes, Muting
from monitor.alert.notification import Severity, Unit
from monitor.alert.signal import Label, Signal
from monitor.alert.silence import Inhibition

# What an alert becomes without data, or when the rule cannot be evaluated; Grafana's words.
WhenNoData: TypeAlias = Literal["keep_last", "normal", "alerting", "no_data"]
WhenError: TypeAlias = Literal["keep_last", "normal", "alerting", "error"]

LATENESS = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Of an escalation: `receivers` are notified once nobody has acknowledged the alert for `after`."""

    after: timedelta
    receivers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """When to alert whom: `method` judges `signal` for each combination of the `by` labels.

    `selector` selects the answers that count: for every label in it, the answer has one of the values. A window closes
    `lateness` after its end. `receivers` None means every configured receiver; the steps of `escalation` come later, in
    order. `runbook` is an http or https URL, or where the runbook is in the documentation if nobody has said where that
    can be read; `owner` is a team or a person.
    """

    name: str
    signal: Signal
    method: Method
    selector: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by: tuple[Label, ...] = ("app",)
    lateness: timedelta = LATENESS
    for_: timedelta = timedelta()
    keep_firing_for: timedelta = timedelta()
    no_data: WhenNoData = "keep_last"
    error: WhenError = "error"
    severity: Severity = "warning"
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    receivers: tuple[str, ...] | None = None
    escalation: tuple[Step, ...] = ()
    runbook: str | None = None
    owner: str | None = None
    mute: MuteTimes = NEVER_MUTED

    @property
    def described(self) -> Mapping[str, str]:
        """The annotations, and the runbook and the owner among them, as alerts and their messages carry them."""
        own = {"runbook": self.runbook, "owner": self.owner}
        return {**self.annotations, **{name: text for name, text in own.items() if text}}

    @property
    def digest(self) -> str:
        """Identity of the measurement: name, selector, grouping, signal and method, as 16 hex digits.

        An alert belongs to a digest: when the rule changes what it measures, the alert is resolved, not carried over.
        Tuning the method's parameters, severity or receivers keeps the alerts.
        """
        selector = {label: list(values) for label, values in self.selector.items()}
        measured = [self.name, selector, self.by, str(self.signal), self.method.name]
        return hashlib.sha256(json.dumps(measured, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def unit(self) -> Unit:
        """The unit of the rule's figures."""
        return self.signal.unit


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Which alerts share a notification, and when it is sent; the words are Alertmanager's, the defaults are shorter.

    Alerts with the same values of `by` form one group: one Slack thread. The first notification comes `wait` after the
    first alert fired, changes follow no sooner than `interval` after the last notification, and while nobody
    acknowledges it, the notification is repeated after `repeat`.
    """

    by: tuple[str, ...] = ("app", "environment")
    wait: timedelta = timedelta(seconds=15)
    interval: timedelta = timedelta(minutes=1)
    repeat: timedelta = timedelta(hours=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """The content of a rules file: rules, grouping and inhibitions."""

    rules: tuple[Rule, ...]
    grouping: Grouping = Grouping()
    inhibitions: tuple[Inhibition, ...] = ()
    source: str = field(default="", compare=False)  # the file's text

    def mutings(self, now: datetime) -> dict[str, Muting]:
        """The mutes that hold at `now`, by the name of the rule."""
        return {rule.name: muting for rule in self.rules if (muting := rule.mute.at(now))}
