"""How receivers are built."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeAlias

from monitor.alert.notification import Course
from monitor.alert.ports import Receiver
from monitor.core.settings.load import Settings

log = logging.getLogger(__name__)

Draw: TypeAlias = Callable[[Course], bytes]  # a chart as PNG
# Builds the receiver from the settings, or None where they do not ask for it; some of them show charts.
Builder: TypeAlias = Callable[[Settings, Draw | None], Receiver | None]
Clock: TypeAlias = Callable[[], datetime]


def utc_now() -> datetime:
    """The time at which something is sent; when it was decided, the notification says."""
    return datetime.now(UTC)


def drawn(draw: Draw | None, course: Course | None) -> bytes | None:
    """The chart, if there is one to draw and somebody who draws it. A chart that fails is logged and left out."""
    if draw is None or course is None:
        return None
    try:
        return draw(course)
    except Exception:
        log.exception("the chart of an alert could not be drawn; its message goes without")
        return None
