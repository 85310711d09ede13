"""Slack by an incoming webhook: a message of its own for every notification, since a webhook cannot edit."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import ClassVar

from monitor.alert.notification import Notification
from monitor.alert.receivers.slack.client import WebhookPost
from monitor.alert.receivers.slack.errors import Refused
from monitor.alert.receivers.slack.message import root_message, thread_message
from monitor.alert.receivers.slack.pace import Pace
from monitor.alert.receivers.slack.post import NO_PREVIEW, QUIET, first_taken
from monitor.alert.wording import http_url
from monitor.core.errors import WrongSettings

# What is told with everything that is known; of the rest a line is enough.
_IN_FULL = frozenset({"firing", "repeated", "resolved"})


class SlackWebhook:
    """Posts to an incoming webhook, without buttons, chart or thread."""

    resend: ClassVar[timedelta | None] = None

    def __init__(
        self,
        *,
        url: str,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if http_url(url) is None:
            raise WrongSettings("MONITOR_SLACK__WEBHOOK_URL is no http or https URL")
        self._client = WebhookPost(url)
        self._pace = Pace(clock=clock, sleep=sleep)

    def send(self, notification: Notification) -> None:
        """Sends once, without a receipt.

        Raises:
            Retriable: Slack is out of reach, busy, or asked to wait.
            Fatal: Slack refuses for good; the message says what to change.
        """
        self._pace.turn()
        message = root_message if notification.news in _IN_FULL else thread_message
        try:
            first_taken([message(notification)], lambda content: self._client.post({**content, **QUIET, **NO_PREVIEW}))
        except Refused as refused:
            raise refused.named() from None

    def check(self) -> str:
        """As the port says."""
        return "an incoming webhook, which cannot be tried without posting"
