"""The life of an alert: inactive → pending → firing → resolved (Prometheus), with Grafana's `no_data` and `error`.

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

from monitor.alert.notification import Severity, Unit
from monitor.alert.rule import Rule
from monitor.alert.window import Observation, Outcome, gone_by


class State(StrEnum):
    """Where an alert stands. `inactive` is also the state of an alert that never was."""

    INACTIVE = "inactive"
    PENDING = "pending"
    FIRING = "firing"
    NO_DATA = "no_data"
    ERROR = "error"
    RESOLVED = "resolved"

    @property
    def active(self) -> bool:
        """Whether it is told of."""
        return self in (State.FIRING, State.NO_DATA, State.ERROR)


_ACTIVE = {Outcome.BREACHING: State.FIRING, Outcome.NO_DATA: State.NO_DATA, Outcome.ERROR: State.ERROR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One combination of labels under one rule, as of its last evaluation that saw it.

    `fingerprint` stays over all its episodes; `episode` names one run of pending and firing. `labels` are those of the
    answers and the rule's own. `receivers` are the names told when it fired, so that the same are told when it ends.
    `normal_since`: it fires on for a while though nothing breaches (`keep_firing_for`).
    """

    fingerprint: str
    episode: str
    rule: str
    rule_digest: str
    signal: str
    method: str
    unit: Unit
    below: bool
    labels: Mapping[str, str]
    severity: Severity
    window: timedelta
    annotations: Mapping[str, str]
    receivers: tuple[str, ...]
    state: State
    active_since: datetime
    fired_at: datetime | None = None
    normal_since: datetime | None = None
    resolved_at: datetime | None = None
    acknowledged_by: str | None = None
    acknowledged_at: datetime | None = None
    value: float | None
    samples: int
    lower: float
    upper: float
    bound: float
    detail: str | None = None
    note: str | None = None

    @property
    def matched(self) -> Mapping[str, str]:
        """The labels that matchers and grouping see."""
        return {**self.labels, "rule": self.rule, "severity": self.severity}


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    """An alert after an evaluation. `previous` is None for an alert never seen."""

    previous: Alert | None
    alert: Alert
    at: datetime

    @property
    def changed(self) -> bool:
        """Whether the state did, and not only the figures."""
        return self.before is not self.alert.state

    @property
    def before(self) -> State:
        """The state that it had."""
        return self.previous.state if self.previous else State.INACTIVE


def fingerprint(rule: Rule, labels: Mapping[str, str]) -> str:
    """Identity of the alert that `rule` raises for answers with `labels`; 32 hex digits."""
    return digest_of([rule.digest, dict(labels)])


def episode_of(alert_fingerprint: str, since: datetime) -> str:
    """Identity of one episode. It follows from its beginning, so evaluating twice cannot make two; 32 hex digits."""
    return digest_of([alert_fingerprint, since.astimezone(UTC).isoformat()])


def transition(rule: Rule, previous: Alert | None, observation: Observation, now: datetime) -> Transition | None:
    """What `observation` makes of `previous` (None: never seen); None where there is nothing to keep.

    An alert fires once it has been breaching for `rule.for_` at every observation, goes on for `rule.keep_firing_for`
    after it was last breaching, and begins a new episode when it breaches after it was resolved. What is `unsure` ends
    a pending alert, which is not known to breach any more, and leaves a firing one, which is not known to have ended.
    On `stale` counts nothing begins and nothing ends. An `error` is one at once: who observes waits until it lasts.
    """
    outcome = _meant(rule, observation.outcome)
    state = previous.state if previous else State.INACTIVE
    if outcome is Outcome.STALE:
        return None
    if state in (State.INACTIVE, State.RESOLVED) or previous is None:
        if outcome not in _ACTIVE:
            return None
        after = _activated(_begun(rule, observation, now), rule, observation, now)
    elif state is State.PENDING:
        alert = _seen(previous, rule, observation)
        if outcome not in _ACTIVE:
            after = replace(alert, state=State.INACTIVE)
        else:
            same = outcome is _meant(rule, Outcome.NO_DATA if previous.value is None else Outcome.BREACHING)
            after = _activated(alert if same else replace(alert, active_since=now), rule, observation, now)
    else:
        after = _active(_seen(previous, rule, observation), rule, outcome, now)
    return Transition(previous=previous, alert=after, at=now)


def _activated(alert: Alert, rule: Rule, observation: Observation, now: datetime) -> Alert:
    if observation.outcome is not Outcome.ERROR and gone_by(alert.active_since, now) < rule.for_:
        return alert
    state = _ACTIVE[_meant(rule, observation.outcome)]
    return replace(alert, state=state, fired_at=now, receivers=rule.receivers or ())


def _active(alert: Alert, rule: Rule, outcome: Outcome, now: datetime) -> Alert:
    match outcome:
        case Outcome.BREACHING:
            return replace(alert, state=State.FIRING, normal_since=None)
        case Outcome.NO_DATA:
            return replace(alert, state=State.NO_DATA, normal_since=None)
        case Outcome.NORMAL if alert.state is State.FIRING:
            since = alert.normal_since or now
            if gone_by(since, now) < rule.keep_firing_for:
                return replace(alert, normal_since=since)
            return replace(alert, state=State.RESOLVED, resolved_at=now, normal_since=None)
        case Outcome.NORMAL | Outcome.UNSURE if alert.state is not State.FIRING:  # there is data again
            return replace(alert, state=State.RESOLVED, resolved_at=now)
    return alert  # unsure, or an error: not known to have ended


def abandoned(previous: Alert, now: datetime, *, note: str | None = None) -> Transition | None:
    """The end of an alert that is not looked after any more, None where it had ended.

    `note` says why; without one, its rule was removed or came to measure something else.
    """
    note = note or f"the rule {previous.rule!r} was removed or measures something else now"
    if previous.state.active:
        alert = replace(previous, state=State.RESOLVED, resolved_at=now, normal_since=None, note=note)
    elif previous.state is State.PENDING:
        alert = replace(previous, state=State.INACTIVE, note=note)
    else:
        return None
    return Transition(previous=previous, alert=alert, at=now)


def _meant(rule: Rule, outcome: Outcome) -> Outcome:
    """The outcome, with what the rule wants no data and errors to count as."""
    if outcome is Outcome.NO_DATA:
        return {"keep_last": Outcome.UNSURE, "normal": Outcome.NORMAL, "alerting": Outcome.BREACHING}.get(
            rule.no_data, outcome
        )
    if outcome is Outcome.ERROR:
        return {"keep_last": Outcome.STALE, "normal": Outcome.NORMAL, "alerting": Outcome.BREACHING}.get(
            rule.error, outcome
        )
    return outcome


def _begun(rule: Rule, observation: Observation, now: datetime) -> Alert:
    identity = fingerprint(rule, observation.labels)
    return Alert(
        fingerprint=identity,
        episode=episode_of(identity, now),
        rule=rule.name,
        rule_digest=rule.digest,
        signal=str(rule.signal),
        method=rule.method.name,
        unit=rule.unit,
        below=rule.method.fires_below,
        labels={**observation.labels, **rule.labels},
        severity=rule.severity,
        window=rule.method.window,
        annotations=rule.annotations,
        receivers=(),
        state=State.PENDING,
        active_since=now,
        value=observation.value,
        samples=observation.samples,
        lower=observation.lower,
        upper=observation.upper,
        bound=observation.bound,
        detail=observation.detail,
    )


def _seen(alert: Alert, rule: Rule, observation: Observation) -> Alert:
    """The alert with the figures of now, and with what may have been tuned in its rule meanwhile.

    Where nothing could be counted the figures of before stay: they are the last that are known.
    """
    tuned = replace(
        alert,
        labels={**observation.labels, **rule.labels},
        severity=rule.severity,
        window=rule.method.window,
        annotations=rule.annotations,
        # whoever was told hears the end, and who was added since is told too
        receivers=tuple(dict.fromkeys((*alert.receivers, *(rule.receivers or ())))) if alert.state.active else (),
        detail=observation.detail,
    )
    if observation.outcome is Outcome.ERROR:
        return tuned
    return replace(
        tuned,
        value=observation.value,
        samples=observation.samples,
        lower=observation.lower,
        upper=observation.upper,
        bound=observation.bound,
    )


def digest_of(parts: list[object]) -> str:
    """32 hex digits that stand for `parts`."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
