"""A made-up alert that fires and is resolved, for testing a receiver."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import sin
from typing import Any

from monitor.alert.notification import Course, Example, Notification, NotifiedAlert, Point
from monitor.alert.state import episode_of

_BOUND = 0.3
_MINUTES, _BEGINS = 60, 51  # minutes of the made-up course, and the minute with which the rise begins


def trial(receiver: str, now: datetime, *, url: str | None = None) -> tuple[Notification, Notification]:
    """Two notifications of one episode: it fires, and it is resolved."""
    alert = _sample(now)
    firing = Notification(
        receiver=receiver,
        group="monitor-test",
        episode=alert.episode,
        number=0,
        news="firing",
        group_labels={"app": "test"},
        alerts=(alert,),
        at=now,
        cause=("No part stands out: this is a test.",),
        changes=("This is a test: `monitor alerts test` sends it.",),
        examples=(
            Example(
                id="test",
                question="How long does a refund take?",
                answer="This answer is made up, and so is the alert.",
                verdict="self_generated",
                reasons=("answer_off_support",),
            ),
        ),
        course=_course(now),
        url=url,
    )
    over = replace(
        alert, status="resolved", resolved_at=now, value=0.05, lower=0.02, upper=0.11, note="this was a test"
    )
    return firing, replace(firing, number=1, news="resolved", alerts=(over,))


def _sample(now: datetime) -> NotifiedAlert:
    begun = now - timedelta(minutes=5)
    fixed: dict[str, Any] = {"value": 0.42, "lower": 0.34, "upper": 0.51, "bound": _BOUND, "samples": 120}
    return NotifiedAlert(
        fingerprint=episode_of("monitor-test", begun),
        episode=episode_of("monitor-test", now),
        rule="monitor-test",
        signal="rate of negative",
        method="threshold",
        labels={"app": "test"},
        annotations={"summary": "This is a test of the receiver. Nothing is wrong."},
        severity="info",
        status="firing",
        unit="share",
        window=timedelta(minutes=5),
        breaching_since=begun,
        fired_at=now,
        **fixed,
    )


def _course(now: datetime) -> Course:
    minutes = [now - timedelta(minutes=_MINUTES - minute) for minute in range(_MINUTES)]
    values = [0.06 + 0.02 * sin(minute) + (0.35 if minute >= _BEGINS else 0) for minute in range(_MINUTES)]
    points = tuple(Point(at=at, value=value, total=24) for at, value in zip(minutes, values, strict=True))
    return Course(points=points, bound=_BOUND, unit="share", name="rate of negative")
