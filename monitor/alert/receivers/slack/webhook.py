"""Posts to Slack by an incoming webhook: a new message for every notification, since a webhook cannot edit."""

from __future__ import annotations

import time
from collections.abc import Callable

from typing_extensions import override

from monitor.alert.notification import Notification
from monitor.alert.ports import Receiver
from monitor.alert.receivers.slack.client import WebhookPost
from monitor.alert.receivers.slack.errors import Refused
from monitor.alert.receivers.slack.message import root_message, thread_message
from monitor.alert.receivers.slack.pace import Pace
from monitor.alert.receivers.slack.post import NO_PREVIEW, QUIET, first_taken
from monitor.alert.wording import http_url
from monitor.core.errors import WrongSettings

# The news that get a full message; for the others one line is enough.
_IN_FULL = frozenset({"firing", "repeated", "resolved"})


class SlackWebhook(Receiver):
    """Posts to an incoming webhook, without buttons, chart or thread."""

    def __init__(
        self,
        *,
        url: str,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if http_url(url) is None:
            raise WrongSettings("MONITOR_SLACK__WEBHOOK_URL is not an http or https URL")
        self._client = WebhookPost(url)
        self._pace = Pace(clock=clock, sleep=sleep)

    @override
    def send(self, notification: Notification) -> None:
        """Sends once, without a receipt.

        Raises:
            Retriable: Slack is out of reach, busy, or asks to wait.
            Fatal: Slack refuses for good; the message says what to change.
        """
        self._pace.turn()
        message = root_message if notification.news in _IN_FULL else thread_message
        try:
            first_taken([message(notification)], lambda content: self._client.post({**content, **QUIET, **NO_PREVIEW}))
        except Refused as refused:
            raise refused.named() from None

    @override
    def check(self) -> str:
        return "an incoming webhook, which cannot be tested without posting"
