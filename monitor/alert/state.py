"""The life of an alert: inactive → pending → firing → resolved, in Prometheus's words (`rules/alerting.go`).

Everything here is pure: the same rule, alert, observation and time give the same transition, so a round that was
killed before it was saved can be evaluated again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from monitor.alert.window import Observation

if TYPE_CHECKING:
    from monitor.alert.rule import Rule, Severity


class State(StrEnum):
    """Where an alert stands. `inactive` is also the state of an alert that never was."""

    INACTIVE = "inactive"
    PENDING = "pending"
    FIRING = "firing"
    RESOLVED = "resolved"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One combination of labels under one rule, as of its last transition.

    `fingerprint` stays over all its episodes; `episode` names one run of pending and firing. `labels` are those of the
    answers and the rule's own. `receivers` are the names told when it fired, so that the same are told when it ends.
    """

    fingerprint: str
    episode: str
    rule: str
    rule_digest: str
    signal: str
    labels: Mapping[str, str]
    severity: Severity
    threshold: float
    window: timedelta
    annotations: Mapping[str, str]
    receivers: tuple[str, ...]
    state: State
    active_since: datetime
    fired_at: datetime | None = None
    resolved_at: datetime | None = None
    value: float | None
    samples: int
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """A change of state. `previous` is None for an alert never seen; `note` says why, where it is not obvious."""

    previous: Alert | None
    alert: Alert
    at: datetime
    note: str | None = None

    @property
    def notifies(self) -> bool:
        """Whether receivers are told: an alert that came to fire, or one that fired and ended."""
        return self.alert.state in (State.FIRING, State.RESOLVED)


def fingerprint(rule: Rule, labels: Mapping[str, str]) -> str:
    """Identity of the alert that `rule` raises for answers with `labels`; 32 hex digits."""
    return _digest([rule.digest, dict(labels)])


def episode_of(alert_fingerprint: str, active_since: datetime) -> str:
    """Identity of one episode. It follows from its beginning, so evaluating twice cannot make two; 32 hex digits."""
    return _digest([alert_fingerprint, active_since.astimezone(UTC).isoformat()])


def transition(rule: Rule, previous: Alert | None, observation: Observation, now: datetime) -> Transition | None:
    """What `observation` changes about `previous` (None: never seen), or None when its state stays.

    An alert fires once it has been breaching for `rule.for_` at every observation, and begins a new episode after it
    was resolved. Without enough samples a pending one becomes inactive, since it is not known to breach any more, and
    a firing one holds, since it is not known to have ended.
    """
    state = previous.state if previous else State.INACTIVE
    match observation.breaching, state:
        case True, State.INACTIVE | State.RESOLVED:
            begun = _begun(rule, observation, now)
            alert = begun if rule.for_ > timedelta() else _fired(begun, rule, now)
        case True, State.PENDING if previous and now - previous.active_since >= rule.for_:
            alert = _fired(_seen(previous, rule, observation), rule, now)
        case False | None, State.PENDING if previous:
            alert = replace(_seen(previous, rule, observation), state=State.INACTIVE)
        case False, State.FIRING if previous:
            alert = replace(_seen(previous, rule, observation), state=State.RESOLVED, resolved_at=now)
        case _:
            return None
    return Transition(previous=previous, alert=alert, at=now)


def lapsed(previous: Alert, now: datetime) -> Transition:
    """The end of a pending alert of which no answers came any more."""
    alert = replace(previous, state=State.INACTIVE)
    return Transition(previous=previous, alert=alert, at=now, note="no answers came any more")


def abandoned(previous: Alert, now: datetime) -> Transition | None:
    """The end of an alert whose rule was removed or came to measure something else; None where it had ended."""
    note = f"the rule {previous.rule!r} was removed or measures something else now"
    if previous.state is State.FIRING:
        alert = replace(previous, state=State.RESOLVED, resolved_at=now)
    elif previous.state is State.PENDING:
        alert = replace(previous, state=State.INACTIVE)
    else:
        return None
    return Transition(previous=previous, alert=alert, at=now, note=note)


def _begun(rule: Rule, observation: Observation, now: datetime) -> Alert:
    identity = fingerprint(rule, observation.labels)
    return Alert(
        fingerprint=identity,
        episode=episode_of(identity, now),
        rule=rule.name,
        rule_digest=rule.digest,
        signal=rule.signal,
        labels={**observation.labels, **rule.labels},
        severity=rule.severity,
        threshold=rule.above,
        window=rule.window,
        annotations=rule.annotations,
        receivers=(),
        state=State.PENDING,
        active_since=now,
        value=observation.value,
        samples=observation.samples,
        lower=observation.lower,
        upper=observation.upper,
    )


def _seen(alert: Alert, rule: Rule, observation: Observation) -> Alert:
    """The alert with the figures of now, and with what may have been tuned in its rule meanwhile."""
    return replace(
        alert,
        labels={**observation.labels, **rule.labels},
        severity=rule.severity,
        threshold=rule.above,
        window=rule.window,
        annotations=rule.annotations,
        value=observation.value,
        samples=observation.samples,
        lower=observation.lower,
        upper=observation.upper,
    )


def _fired(alert: Alert, rule: Rule, now: datetime) -> Alert:
    return replace(alert, state=State.FIRING, fired_at=now, receivers=rule.receivers or ())


def _digest(parts: list[object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
