"""Notifications in small, for every test of what is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from monitor.alert.notification import Course, Example, Notification, NotifiedAlert, Point

NOON = datetime(2025, 11, 21, 12, 0, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return NOON + timedelta(minutes=minutes)


def an_example(**changes: Any) -> Example:
    known: dict[str, Any] = {
        "id": "q-1",
        "question": "How long does a refund take?",
        "answer": "Refunds arrive within two hours, guaranteed by the Galactic Bank.",
        "verdict": "self_generated",
        "reasons": ("answer_off_support",),
    }
    return Example(**{**known, **changes})


def a_notified_alert(**changes: Any) -> NotifiedAlert:
    known: dict[str, Any] = {
        "fingerprint": "fedcba9876543210fedcba9876543210",
        "episode": "00112233445566778899aabbccddeeff",
        "rule": "negative-rate",
        "signal": "rate of negative",
        "method": "threshold",
        "labels": {"app": "support-bot", "environment": "production"},
        "annotations": {"summary": "Too many answers are not carried.", "runbook": "https://wiki.example/rag?a=1&b=2"},
        "severity": "critical",
        "status": "firing",
        "unit": "share",
        "value": 0.382,
        "lower": 0.285,
        "upper": 0.489,
        "bound": 0.3,
        "samples": 84,
        "window": timedelta(minutes=5),
        "breaching_since": NOON,
        "fired_at": at(2),
    }
    return NotifiedAlert(**{**known, **changes})


def a_resolved_alert(**changes: Any) -> NotifiedAlert:
    """The same alert, over after 20 minutes."""
    return a_notified_alert(
        **{"status": "resolved", "value": 0.05, "lower": 0.02, "upper": 0.11, "resolved_at": at(20)} | changes
    )


def a_notification(**changes: Any) -> Notification:
    """The first one of an episode; `alerts` holds `a_notified_alert()` alone."""
    known: dict[str, Any] = {
        "receiver": "memory",
        "group": "1234567890abcdef1234567890abcdef",
        "episode": "0123456789abcdef0123456789abcdef",
        "number": 0,
        "news": "firing",
        "group_labels": {"alertname": "negative-rate", "app": "support-bot"},
        "alerts": (a_notified_alert(),),
        "at": at(2),
        "examples": (an_example(),),
    }
    return Notification(**{**known, **changes})


def a_resolved_notification(**changes: Any) -> Notification:
    """The last one of the episode of `a_notification()`."""
    known: dict[str, Any] = {
        "number": 1,
        "news": "resolved",
        "alerts": (a_resolved_alert(),),
        "at": at(20),
        "examples": (),
    }
    return a_notification(**{**known, **changes})


def a_course(**changes: Any) -> Course:
    points = tuple(Point(at=at(5 * n - 60), value=0.04 + 0.03 * n, total=40) for n in range(12))
    known: dict[str, Any] = {"points": points, "bound": 0.3, "unit": "share", "name": "Rate of negative answers"}
    return Course(**{**known, **changes})
