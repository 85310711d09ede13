"""What a rule is: frozen, and independent of the file it came from (`rules_file.py`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from monitor.alert.methods.method import Method
from monitor.alert.notification import Severity, Unit
from monitor.alert.signal import Label, Signal, SignalKind
from monitor.alert.silence import Inhibition

# What an alert becomes where there is no data, or the rule cannot be evaluated; Grafana's words.
WhenNoData: TypeAlias = Literal["keep_last", "normal", "alerting", "no_data"]
WhenError: TypeAlias = Literal["keep_last", "normal", "alerting", "error"]

LATENESS = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """When to tell whom: what `method` makes of `signal`, per combination of the `by` labels.

    `selector` says which answers count: those with one of the values of every label in it. A window closes `lateness`
    after its end. `receivers` None is every receiver that is configured.
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

    @property
    def digest(self) -> str:
        """Identity of what is measured: name, selector, grouping, signal and method, 16 hex digits.

        An alert belongs to the digest, so one whose rule came to measure something else is resolved, not carried over.
        The method's parameters, severity and receivers may be tuned without losing the alerts.
        """
        selector = {label: list(values) for label, values in self.selector.items()}
        measured = [self.name, selector, self.by, str(self.signal), self.method.name]
        return hashlib.sha256(json.dumps(measured, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def unit(self) -> Unit:
        """Of its figures."""
        if self.signal.is_share:
            return "share"
        return "seconds" if self.signal.kind is SignalKind.LAG else "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Which alerts are told of together, and when; the words and defaults are Alertmanager's, shorter.

    Alerts with the same values of `by` make one group: one Slack thread. It is told `wait` after its first alert fired,
    of changes no sooner than `interval` after the last time, and again after `repeat` while nobody acknowledged it.
    """

    by: tuple[str, ...] = ("app", "environment")
    wait: timedelta = timedelta(seconds=15)
    interval: timedelta = timedelta(minutes=1)
    repeat: timedelta = timedelta(hours=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """A rules file: its rules, how their alerts are grouped, and which alerts inhibit which."""

    rules: tuple[Rule, ...]
    grouping: Grouping = Grouping()
    inhibitions: tuple[Inhibition, ...] = ()
    source: str = field(default="", compare=False)  # the file's text
