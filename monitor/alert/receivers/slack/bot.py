"""Posts to Slack as a bot: one message per episode, updated in place, with its history in a thread.

No error text and no log line of this module holds the token or the webhook URL, which is a secret too.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping

from typing_extensions import override

from monitor.alert.notification import Notification
from monitor.alert.ports import Receiver
from monitor.alert.receivers.receiver import Draw
from monitor.alert.receivers.slack.chart import SlackCharts
from monitor.alert.receivers.slack.client import API_URL, SlackClient
from monitor.alert.receivers.slack.errors import Refused
from monitor.alert.receivers.slack.history import NEWS, ROOT, SlackHistory, metadata
from monitor.alert.receivers.slack.message import root_message, thread_message
from monitor.alert.receivers.slack.pace import Pace
from monitor.alert.receivers.slack.post import NO_PREVIEW, QUIET, first_taken
from monitor.alert.receivers.slack.text import SlackMessage
from monitor.alert.receivers.slack.webhook import SlackWebhook
from monitor.core.errors import WrongSettings
from monitor.core.model import Json
from monitor.core.settings.load import Settings
from monitor.core.text.plain import plain

log = logging.getLogger(__name__)

_GONE = frozenset({"message_not_found"})
_NOT_EDITABLE = frozenset({"cant_update_message", "edit_window_closed"})


def from_settings(settings: Settings, draw: Draw | None) -> Receiver | None:
    """The bot if a token and a channel are set, else the webhook if its URL is set, else None.

    Raises:
        WrongSettings: only one of token and channel is set, and no webhook; or an app token is set without a bot.
    """
    slack = settings.slack
    if slack.bot_token and slack.channel:
        return SlackBot(
            token=slack.bot_token.get_secret_value(),
            channel=slack.channel,
            api_url=slack.api_url,
            draw=draw,
            buttons=slack.app_token is not None,
        )
    if slack.app_token:
        raise WrongSettings("MONITOR_SLACK__APP_TOKEN needs MONITOR_SLACK__BOT_TOKEN and MONITOR_SLACK__CHANNEL")
    if slack.webhook_url:
        return SlackWebhook(url=slack.webhook_url.get_secret_value())
    if slack.bot_token or slack.channel:
        raise WrongSettings("Slack needs both MONITOR_SLACK__BOT_TOKEN and MONITOR_SLACK__CHANNEL, or a webhook URL")
    return None


class SlackBot(Receiver):
    """Posts as a bot user; needs the scope `chat:write` and membership in `channel`.

    The receipt is `{"channel": id, "ts": timestamp}` of the root message, plus the id of its `chart` if it has one. A
    notification with a receipt updates that message and adds a line to its thread; if the message was deleted, a new
    one is posted. Notifications in doubt are looked up first. `buttons`: a listener handles the buttons. `clock` (in
    seconds) and `sleep` limit the rate to one message per second.
    """

    def __init__(
        self,
        *,
        token: str,
        channel: str,
        api_url: str = API_URL,
        draw: Draw | None = None,
        buttons: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._channel = channel
        self._buttons = buttons
        self._client = SlackClient(token=token, api_url=api_url)
        self._history = SlackHistory(client=self._client, channel=channel)
        self._charts = SlackCharts(client=self._client, draw=draw, sleep=sleep) if draw is not None else None
        self._pace = Pace(clock=clock, sleep=sleep)

    @override
    def send(self, notification: Notification) -> Mapping[str, Json]:
        """Sends once. A failure between update and thread line can repeat the update, which is harmless.

        Raises:
            Retriable: Slack is out of reach, busy, or asks to wait.
            Fatal: Slack refuses for good; the message says what to change.
        """
        try:
            receipt = self._deliver(notification)
        except Refused as refused:
            raise refused.named() from None
        if self._charts is None:
            return receipt
        chart = self._charts.shown(
            notification, lambda chart: self._edit(receipt, self._root(notification, chart).content)
        )
        return receipt if chart is None else {**receipt, "chart": chart}

    def _deliver(self, notification: Notification) -> Mapping[str, Json]:
        receipt = notification.previous
        if receipt is None or not self._update(receipt, notification):
            in_doubt = notification.in_doubt or (receipt is None and notification.number > 0)
            found = self._history.root(notification) if in_doubt else None
            if found is None:
                return self._post(self._root(notification), metadata(ROOT, notification), channel=self._channel)
            receipt = {"channel": found.channel, "ts": found.ts}
            self._update(receipt, notification)
            if found.number == notification.number:
                return receipt
        if not (notification.in_doubt and self._history.replied(notification, receipt)):
            self._post(
                thread_message(notification),
                metadata(NEWS, notification),
                channel=receipt["channel"],
                thread_ts=receipt["ts"],
                reply_broadcast=notification.pages,
            )
        return receipt

    def _root(self, notification: Notification, chart: str | None = None) -> SlackMessage:
        return root_message(notification, buttons=self._buttons, chart=chart)

    def _update(self, receipt: Mapping[str, Json], notification: Notification) -> bool:
        """False if the message is gone. A message that can no longer be edited stays as it is."""
        chart = receipt.get("chart")
        messages = [self._root(notification)]
        if isinstance(chart, str):  # the file may have been deleted since
            messages.insert(0, self._root(notification, chart))
        try:
            first_taken(messages, lambda content: self._edit(receipt, content))
        except Refused as refused:
            if refused.word in _GONE:
                return False
            if refused.word not in _NOT_EDITABLE:
                raise
            log.warning("slack: the message of an alert could not be edited (%s)", refused.word)
        return True

    def _edit(self, receipt: Mapping[str, Json], content: Mapping[str, Json]) -> None:
        place = {"channel": receipt["channel"], "ts": receipt["ts"]}
        self._client.write("chat.update", {**place, "blocks": [], **content, **QUIET})

    def _post(self, message: SlackMessage, about: dict[str, Json], **place: Json) -> Mapping[str, Json]:
        self._pace.turn()
        answer = first_taken(
            [message],
            lambda content: self._client.write(
                "chat.postMessage", {**place, **content, "metadata": about, **QUIET, **NO_PREVIEW}
            ),
        )
        return {"channel": answer.get("channel") or place["channel"], "ts": answer["ts"]}

    @override
    def check(self) -> str:
        """Checks the token. Whether the bot may post in the channel shows only on posting: asking needs more scopes.

        Raises:
            Retriable, Fatal: as `send` does.
        """
        try:
            answer = self._client.write("auth.test", {}, expected="team")
        except Refused as refused:
            raise refused.named() from None
        return f"bot {plain(str(answer.get('user')))} of {plain(answer['team'])}, posting to channel {self._channel}"
