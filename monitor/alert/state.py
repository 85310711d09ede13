"""The life of an alert: inactive → pending → firing → resolved (Prometheus), with Grafana's `no_data` and `error`.

Everything here is pure: the same rule, alert, observation and time give the same transition. A round that was killed
before it was saved can therefore be evaluated again.
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
from monitor.alert.signal import Label
from monitor.alert.window import Observation, Outcome, gone_by


class State(StrEnum):
    """The state of an alert. An alert that never existed counts as `inactive`."""

    INACTIVE = "inactive"
    PENDING = "pending"
    FIRING = "firing"
    NO_DATA = "no_data"
    ERROR = "error"
    RESOLVED = "resolved"

    @property
    def active(self) -> bool:
        """Whether people are notified of it."""
        return self in (State.FIRING, State.NO_DATA, State.ERROR)


_ACTIVE = {Outcome.BREACHING: State.FIRING, Outcome.NO_DATA: State.NO_DATA, Outcome.ERROR: State.ERROR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One combination of labels under one rule, as of the last evaluation that saw it.

    `fingerprint` is the same in all episodes; `episode` names one run of pending and firing. `labels` are the labels of
    the answers and of the rule. `receivers` are the names notified when it fired, so that they also hear of its end.
    `normal_since`: nothing breaches any more, but the alert goes on firing for `keep_firing_for`. `selector` and `by`
    are those of the rule, so that the signal can be counted when the rule is gone; None from an earlier release.

    `active_since` is when it began to breach, Prometheus's `activeAt`; it fired after the rule's `for`, at `fired_at`.
    `quiet_since`: nothing was counted from then on; the figures are those from before.
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
    quiet_since: datetime | None = None
    selector: Mapping[str, tuple[str, ...]] | None = None
    by: tuple[Label, ...] | None = None

    @property
    def started_at(self) -> datetime:
        """When it began to fire, or to breach if it has not fired yet: the start that people are told.

        Durations count from it. It is Alertmanager's `startsAt`, which Prometheus sets to the time of firing.
        """
        return self.fired_at or self.active_since

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
        """Whether the state changed, not only the figures."""
        return self.before is not self.alert.state

    @property
    def before(self) -> State:
        """The state before the evaluation."""
        return self.previous.state if self.previous else State.INACTIVE


def fingerprint(rule: Rule, labels: Mapping[str, str]) -> str:
    """Identity of the alert of `rule` for answers with `labels`, as 32 hex digits."""
    return digest_of([rule.digest, dict(labels)])


def episode_of(alert_fingerprint: str, since: datetime) -> str:
    """Identity of one episode, as 32 hex digits. It follows from the start, so evaluating twice cannot make two."""
    return digest_of([alert_fingerprint, since.astimezone(UTC).isoformat()])


def transition(rule: Rule, previous: Alert | None, observation: Observation, now: datetime) -> Transition | None:
    """The alert after `observation`, given the `previous` one (None: never seen); None if there is nothing to keep.

    An alert fires once it has been breaching for `rule.for_` at every observation, goes on for `rule.keep_firing_for`
    after the last breach, and begins a new episode when it breaches after it was resolved. A breach lasts while there
    is new evidence of it, until the observation's `as_of`: waiting alone makes no alert fire. `unsure` ends a pending
    alert, which may no longer breach, and leaves a firing alert alone, which may not have ended. `stale` begins and
    ends nothing. `error` takes effect at once: the caller reports it only once it has lasted.
    """
    outcome = _effective(rule, observation.outcome)
    state = previous.state if previous else State.INACTIVE
    if outcome is Outcome.STALE:
        return None
    if state in (State.INACTIVE, State.RESOLVED) or previous is None:
        if outcome not in _ACTIVE:
            return None
        after = _activated(_new_alert(rule, observation, now), rule, observation, now)
    elif state is State.PENDING:
        alert = _updated(previous, rule, observation)
        if outcome not in _ACTIVE:
            after = replace(alert, state=State.INACTIVE)
        else:
            same = outcome is _effective(rule, Outcome.NO_DATA if previous.value is None else Outcome.BREACHING)
            after = _activated(alert if same else replace(alert, active_since=now), rule, observation, now)
    else:
        after = _active(_updated(previous, rule, observation), rule, outcome, now)
    return Transition(previous=previous, alert=after, at=now)


def _activated(alert: Alert, rule: Rule, observation: Observation, now: datetime) -> Alert:
    lasted = gone_by(alert.active_since, now)
    if observation.as_of is not None:
        lasted = min(lasted, max(observation.as_of - alert.active_since, timedelta()))
    if observation.outcome is not Outcome.ERROR and lasted < rule.for_:
        return alert
    state = _ACTIVE[_effective(rule, observation.outcome)]
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
    """The end of an alert that is no longer evaluated; None if it had already ended.

    `note` says why. The default: its rule was removed or now measures something else.
    """
    note = note or f"the rule {previous.rule!r} was removed or now measures something else"
    if previous.state.active:
        alert = replace(previous, state=State.RESOLVED, resolved_at=now, normal_since=None, note=note)
    elif previous.state is State.PENDING:
        alert = replace(previous, state=State.INACTIVE, note=note)
    else:
        return None
    return Transition(previous=previous, alert=alert, at=now)


def _effective(rule: Rule, outcome: Outcome) -> Outcome:
    """The outcome after the rule's `no_data` and `error` settings."""
    if outcome is Outcome.NO_DATA:
        return {"keep_last": Outcome.UNSURE, "normal": Outcome.NORMAL, "alerting": Outcome.BREACHING}.get(
            rule.no_data, outcome
        )
    if outcome is Outcome.ERROR:
        return {"keep_last": Outcome.STALE, "normal": Outcome.NORMAL, "alerting": Outcome.BREACHING}.get(
            rule.error, outcome
        )
    return outcome


def _new_alert(rule: Rule, observation: Observation, now: datetime) -> Alert:
    identity = fingerprint(rule, observation.labels)
    return Alert(
        fingerprint=identity,
        episode=episode_of(identity, now),
        rule=rule.name,
        rule_digest=rule.digest,
        signal=str(rule.signal),
        method=rule.method.name,
        unit=rule.unit,
        below=rule.method.fires_below(rule.signal),
        labels={**observation.labels, **rule.labels},
        severity=rule.severity,
        window=rule.method.window,
        annotations=rule.described,
        receivers=(),
        state=State.PENDING,
        active_since=now,
        value=observation.value,
        samples=observation.samples,
        lower=observation.lower,
        upper=observation.upper,
        bound=observation.bound,
        detail=observation.detail,
        quiet_since=observation.quiet_since,
        selector=rule.selector,
        by=rule.by,
    )


def _updated(alert: Alert, rule: Rule, observation: Observation) -> Alert:
    """The alert with the current figures and the current settings of its rule.

    After an error the old figures stay, since they are the last known ones. So do those of an active alert that goes
    on without data.
    """
    tuned = replace(
        alert,
        labels={**observation.labels, **rule.labels},
        severity=rule.severity,
        window=rule.method.window,
        annotations=rule.described,
        # notified receivers also hear of the end; receivers added since are notified too
        receivers=tuple(dict.fromkeys((*alert.receivers, *(rule.receivers or ())))) if alert.state.active else (),
        detail=observation.detail,
        selector=rule.selector,
        by=rule.by,
    )
    if observation.outcome is Outcome.ERROR:
        return tuned
    tuned = replace(tuned, quiet_since=observation.quiet_since)
    quiet = observation.outcome is Outcome.NO_DATA or (
        observation.outcome is Outcome.UNSURE and observation.quiet_since is not None
    )
    if quiet and alert.state.active and alert.value is not None:
        return replace(tuned, samples=0, detail=alert.detail)
    return replace(
        tuned,
        value=observation.value,
        samples=observation.samples,
        lower=observation.lower,
        upper=observation.upper,
        bound=observation.bound,
    )


def digest_of(parts: list[object]) -> str:
    """A hash of `parts`, as 32 hex digits."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]
