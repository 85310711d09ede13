"""Uploads the chart of an alert to Slack, without a channel, so that only our own message shows it.

https://docs.slack.dev/reference/methods/files.getUploadURLExternal and files.completeUploadExternal; the scope is
`files:write`. A missing chart must not cost a page: errors here are logged, and the message stays without the chart.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

from monitor.alert.notification import Notification
from monitor.alert.receivers.receiver import Draw, drawn
from monitor.alert.receivers.slack.client import SlackClient
from monitor.alert.receivers.slack.errors import REFUSED_BLOCKS, Refused
from monitor.core.errors import Fatal, Retriable

log = logging.getLogger(__name__)

# The news with which the chart is redrawn.
_REDRAWN = frozenset({"firing", "repeated", "resolved"})
_NAME = "chart.png"
# Seconds between attempts to show a file: Slack scans new files for a moment before messages can show them.
_PAUSES = (0.5, 1.0, 2.0)


class SlackCharts:
    """Draws, uploads and shows charts; stops doing so after a permanent refusal (no scope, uploads switched off).

    `sleep` waits while Slack scans a new file.
    """

    def __init__(self, *, client: SlackClient, draw: Draw, sleep: Callable[[float], None]) -> None:
        self._client = client
        self._draw = draw
        self._sleep = sleep
        self._off = False

    def shown(self, notification: Notification, show: Callable[[str], None]) -> str | None:
        """The id of a new chart that `show` has put into the message; None without one. Never raises."""
        if notification.news not in _REDRAWN or self._off:
            return None
        picture = drawn(self._draw, notification.course)
        if picture is None:
            return None
        try:
            chart = self._uploaded(picture)
            self._patiently(chart, show)
        except Refused as refused:
            self._off = isinstance(refused.named(), Fatal) and refused.word not in REFUSED_BLOCKS
            hint = "; give the app the bot scope files:write" if refused.word == "missing_scope" else ""
            log.warning("slack: a message is shown without its chart (%s)%s", refused, hint)
        except Retriable as error:
            log.warning("slack: a message is shown without its chart (%s)", error)
        else:
            return chart
        return None

    def _uploaded(self, picture: bytes) -> str:
        place = self._client.read(
            "files.getUploadURLExternal", {"filename": _NAME, "length": len(picture)}, expected="upload_url"
        )
        chart = str(place["file_id"])
        self._client.upload(place["upload_url"], picture)
        self._client.read(
            "files.completeUploadExternal", {"files": json.dumps([{"id": chart, "title": _NAME}])}, expected="files"
        )
        return chart

    def _patiently(self, chart: str, show: Callable[[str], None]) -> None:
        for pause in _PAUSES:
            try:
                return show(chart)
            except Refused as refused:
                if refused.word not in REFUSED_BLOCKS:
                    raise
                self._sleep(pause)
        return show(chart)
