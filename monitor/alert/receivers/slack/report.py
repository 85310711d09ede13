"""Posts a report to Slack: a message with the main lines, and the full report as a file in its thread.

https://docs.slack.dev/reference/methods/files.completeUploadExternal; the file needs the bot scope `files:write`.
"""

from __future__ import annotations

import json
import logging

from monitor.alert.receivers.slack.client import SlackClient, WebhookPost
from monitor.alert.receivers.slack.errors import Refused
from monitor.alert.receivers.slack.post import NO_PREVIEW, QUIET, first_taken
from monitor.alert.receivers.slack.text import SlackMessage
from monitor.alert.wording import http_url
from monitor.core.errors import Retriable, WrongSettings
from monitor.core.model import Json
from monitor.core.settings.load import Settings

log = logging.getLogger(__name__)


class SlackReports:
    """Posts reports: with the file as a bot, without it by an incoming webhook, which cannot take files."""

    def __init__(self, *, bot: tuple[SlackClient, str] | None, webhook: WebhookPost | None) -> None:
        self._bot = bot
        self._webhook = webhook

    def send(self, message: SlackMessage, *, name: str, content: bytes) -> None:
        """Posts `message`, then the file `name` in its thread. If Slack refuses the file, that is only logged.

        Raises:
            Retriable: Slack is out of reach, busy, or asks to wait.
            Fatal: Slack refuses the message for good; the text says what to change.
        """
        try:
            if self._bot is not None:
                client, channel = self._bot
                answer = first_taken(
                    [message],
                    lambda shown: client.write(
                        "chat.postMessage", {"channel": channel, **shown, **QUIET, **NO_PREVIEW}
                    ),
                )
                _attach(client, str(answer.get("channel") or channel), str(answer["ts"]), name, content)
            elif self._webhook is not None:
                webhook = self._webhook
                first_taken([message], lambda shown: webhook.post({**shown, **QUIET, **NO_PREVIEW}))
        except Refused as refused:
            raise refused.named() from None


def reports_from_settings(settings: Settings) -> SlackReports | None:
    """Reports by the bot if one is set up, else by the webhook, else None.

    Raises:
        WrongSettings: a URL is not an http or https URL.
    """
    slack = settings.slack
    if slack.bot_token and slack.channel:
        client = SlackClient(token=slack.bot_token.get_secret_value(), api_url=slack.api_url)
        return SlackReports(bot=(client, slack.channel), webhook=None)
    if slack.webhook_url:
        url = slack.webhook_url.get_secret_value()
        if http_url(url) is None:
            raise WrongSettings("MONITOR_SLACK__WEBHOOK_URL is not an http or https URL")
        return SlackReports(bot=None, webhook=WebhookPost(url))
    return None


def _attach(client: SlackClient, channel: str, thread: str, name: str, content: bytes) -> None:
    try:
        place = client.read(
            "files.getUploadURLExternal", {"filename": name, "length": len(content)}, expected="upload_url"
        )
        client.upload(str(place["upload_url"]), content)
        file: Json = [{"id": str(place["file_id"]), "title": name}]
        client.read(
            "files.completeUploadExternal",
            {"files": json.dumps(file), "channel_id": channel, "thread_ts": thread},
            expected="files",
        )
    except Refused as refused:
        hint = "; give the app the bot scope files:write" if refused.word == "missing_scope" else ""
        log.warning("slack: a report is posted without its file (%s)%s", refused, hint)
    except Retriable as error:
        log.warning("slack: a report is posted without its file (%s)", error)
