"""Rules, observations and alerts in small, for the tests of the core."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from monitor.alert.methods.threshold import Threshold
from monitor.alert.notification import NotifiedAlert
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.silence import Silence, parse_matcher
from monitor.alert.state import Alert, State
from monitor.alert.target import Target
from monitor.alert.window import Observation, Outcome
from tests.factories.alert.notifications import at

NEGATIVE = Signal(kind=SignalKind.RATE, name="negative")
_FIGURES = {
    Outcome.BREACHING: (0.5, 40),
    Outcome.NORMAL: (0.1, 40),
    Outcome.UNSURE: (0.5, 2),
    Outcome.STALE: (0.5, 2),
    Outcome.NO_DATA: (None, 0),
    Outcome.ERROR: (None, 0),
}


def a_method(**changes: Any) -> Threshold:
    return Threshold(**{"above": Target(value=0.3), "min_samples": 10, **changes})


def a_rule(**changes: Any) -> Rule:
    known: dict[str, Any] = {
        "name": "negative-rate",
        "signal": NEGATIVE,
        "method": a_method(),
        "lateness": timedelta(),
        "for_": timedelta(minutes=2),
        "receivers": ("memory",),
    }
    return Rule(**{**known, **changes})


def a_rule_set(*rules: Rule, **changes: Any) -> RuleSet:
    return RuleSet(rules=rules, **changes)


def an_observation(outcome: Outcome, **changes: Any) -> Observation:
    value, samples = _FIGURES[outcome]
    known: dict[str, Any] = {
        "labels": {"app": "shop"},
        "value": value,
        "samples": samples,
        "lower": 0.05,
        "upper": 0.6,
        "bound": 0.3,
    }
    return Observation(outcome=outcome, **{**known, **changes})


def an_alert(**changes: Any) -> Alert:
    """One that fires since noon."""
    known: dict[str, Any] = {
        "fingerprint": "f" * 32,
        "episode": "e1",
        "rule": "negative-rate",
        "rule_digest": "d" * 16,
        "signal": "rate of negative",
        "method": "threshold",
        "unit": "share",
        "below": False,
        "labels": {"app": "shop"},
        "severity": "critical",
        "window": timedelta(minutes=5),
        "annotations": {"summary": "Too many. 多すぎる"},
        "receivers": ("memory",),
        "state": State.FIRING,
        "active_since": at(-2),
        "fired_at": at(0),
        "value": 0.4,
        "samples": 50,
        "lower": 0.28,
        "upper": 0.54,
        "bound": 0.3,
    }
    return Alert(**{**known, **changes})


def a_silence(*matchers: str, start: float = 0, end: float = 60, **changes: Any) -> Silence:
    known: dict[str, Any] = {
        "id": "s1",
        "matchers": tuple(parse_matcher(text) for text in matchers or ('app="shop"',)),
        "starts_at": at(start),
        "ends_at": at(end),
        "created_by": "ada",
    }
    return Silence(**{**known, **changes})


def minutes(*numbers: float) -> list[datetime]:
    return [at(number) for number in numbers]


def statuses(alerts: Sequence[NotifiedAlert]) -> list[tuple[str, str]]:
    return [(alert.rule, alert.status) for alert in alerts]
