"""The types and functions that all receivers share: builder, clock and chart."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

from monitor.alert.notification import Course
from monitor.alert.ports import Receiver
from monitor.core.settings.load import Settings

log = logging.getLogger(__name__)

Draw: TypeAlias = Callable[[Course], bytes]  # returns a chart as PNG
# Builds a receiver from the settings, or returns None if they do not configure it.
Builder: TypeAlias = Callable[[Settings, Draw | None], Receiver | None]
Clock: TypeAlias = Callable[[], datetime]


def utc_now() -> datetime:
    """The time of sending; the notification has the time of the decision."""
    return datetime.now(UTC)


def drawn(draw: Draw | None, course: Course | None) -> bytes | None:
    """The chart as PNG, or None without a course or a drawing function. A chart that fails is logged and left out."""
    if draw is None or course is None:
        return None
    try:
        return draw(course)
    except Exception:
        log.exception("the chart of an alert could not be drawn; the message is sent without it")
        return None
