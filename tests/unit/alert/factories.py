"""Alerts in small, for the tests beside this file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from monitor.alert.notification import Example, Notification
from monitor.alert.rule import Rule
from monitor.alert.window import Observation

NOON = datetime(2025, 11, 21, 12, 0, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def a_rule(**changes: Any) -> Rule:
    known: dict[str, Any] = {
        "name": "negative-rate",
        "signal": "negative",
        "above": 0.3,
        "window": timedelta(minutes=5),
        "for_": timedelta(minutes=2),
        "min_samples": 10,
        "receivers": ("memory",),
    }
    return Rule(**{**known, **changes})


def an_observation(*, breaching: bool | None, **changes: Any) -> Observation:
    known: dict[str, Any] = {
        "labels": {"app": "shop"},
        "value": 0.5 if breaching else 0.1,
        "samples": 40,
        "lower": 0.05,
        "upper": 0.6,
    }
    return Observation(breaching=breaching, **{**known, **changes})


def an_example(**changes: Any) -> Example:
    known: dict[str, Any] = {
        "id": "q-1",
        "question": "How long does a refund take?",
        "answer": "Refunds arrive within two hours, guaranteed by the Galactic Bank.",
        "verdict": "self_generated",
        "reasons": ("answer_off_support",),
    }
    return Example(**{**known, **changes})


def a_notification(**changes: Any) -> Notification:
    known: dict[str, Any] = {
        "receiver": "memory",
        "episode": "0123456789abcdef0123456789abcdef",
        "fingerprint": "fedcba9876543210fedcba9876543210",
        "rule": "negative-rate",
        "signal": "negative",
        "labels": {"app": "support-bot", "environment": "production"},
        "status": "firing",
        "severity": "critical",
        "value": 0.382,
        "lower": 0.285,
        "upper": 0.489,
        "samples": 84,
        "threshold": 0.3,
        "window": timedelta(minutes=5),
        "started_at": NOON,
        "at": at(2),
        "annotations": {"summary": "Too many answers are not carried.", "runbook": "https://wiki.example/rag?a=1&b=2"},
        "examples": (an_example(),),
    }
    return Notification(**{**known, **changes})
