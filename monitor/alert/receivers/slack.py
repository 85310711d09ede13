"""Slack, by a bot token (one message per episode, updated in place, with a thread) or an incoming webhook.

No error text and no log line of this module holds the token or the webhook URL, which is a secret too.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.webhook import WebhookClient

from monitor.alert.notification import Notification
from monitor.alert.receivers.slack_blocks import SlackMessage, root_message, thread_message
from monitor.alert.wording import http_url, plain
from monitor.errors import Fatal, Retriable, WrongSettings
from monitor.model import Json
from monitor.ports import Receiver
from monitor.settings import Settings

log = logging.getLogger(__name__)

API_URL = "https://slack.com/api/"
TIMEOUT_SECONDS = 10

# Nobody is pinged, nothing is linked or unfurled that we did not link ourselves.
_QUIET = {"parse": "none", "link_names": False}
_NO_PREVIEW = {"unfurl_links": False, "unfurl_media": False, "mrkdwn": False}

_TOKEN = "set MONITOR_SLACK__BOT_TOKEN to the Bot User OAuth Token of an app that is installed in the workspace"  # noqa: S105
_CHANNEL = "set MONITOR_SLACK__CHANNEL to the id of a channel (C…) of this workspace"
_INVITE = "invite the app into the channel: /invite @its-name"
_WEBHOOK = "make a new incoming webhook and set MONITOR_SLACK__WEBHOOK_URL to it"
_DEFECT = "this is a defect of monitor: please report it"
# Slack's word → what to change. Any other word may be a passing trouble.
_MEND = {
    "invalid_auth": _TOKEN,
    "not_authed": _TOKEN,
    "token_revoked": _TOKEN,
    "token_expired": _TOKEN,
    "account_inactive": _TOKEN,
    "not_allowed_token_type": _TOKEN,
    "no_permission": _TOKEN,
    "missing_scope": "give the app the bot scope chat:write and install it again",
    "channel_not_found": f"{_CHANNEL}; for a private one, also {_INVITE}",
    "not_in_channel": _INVITE,
    "is_archived": _CHANNEL,
    "channel_is_archived": _CHANNEL,
    "restricted_action": "the workspace does not let this app post in the channel: ask its administrator",
    "action_prohibited": "the workspace does not let this app post in the channel: ask its administrator",
    "ekm_access_denied": "the workspace's administrators have suspended posting",
    "no_service": _WEBHOOK,
    "no_active_hooks": _WEBHOOK,
    "no_team": _WEBHOOK,
    "team_disabled": _WEBHOOK,
    "invalid_token": _WEBHOOK,
    "invalid_blocks": _DEFECT,
    "invalid_blocks_format": _DEFECT,
    "msg_blocks_too_long": _DEFECT,
    "msg_too_long": _DEFECT,
    "invalid_payload": _DEFECT,
    "no_text": _DEFECT,
}
_REFUSED_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long", "invalid_payload"})
_GONE = frozenset({"message_not_found"})
_NOT_EDITABLE = frozenset({"cant_update_message", "edit_window_closed"})
_WORD = re.compile(r"[a-z][a-z0-9_]{0,79}")
_TOO_MANY_REQUESTS = 429


def from_settings(settings: Settings) -> Receiver | None:
    """The bot where a token is set, else the webhook, else None.

    Raises:
        WrongSettings: a token without a channel, or the reverse, and no webhook.
    """
    slack = settings.slack
    if slack.bot_token and slack.channel:
        return SlackBot(token=slack.bot_token.get_secret_value(), channel=slack.channel, api_url=slack.api_url)
    if slack.webhook_url:
        return SlackWebhook(url=slack.webhook_url.get_secret_value())
    if slack.bot_token or slack.channel:
        raise WrongSettings("Slack needs both MONITOR_SLACK__BOT_TOKEN and MONITOR_SLACK__CHANNEL, or a webhook URL")
    return None


class _Refused(Exception):
    """Slack answered, and said no in one word, or in none (a proxy's page). Never leaves this module."""

    def __init__(self, word: str, status: int, retry_after: float | None) -> None:
        super().__init__(word)
        self.word = word
        self.status = status
        self.retry_after = retry_after


class SlackBot:
    """Posts as a bot user; needs the scope `chat:write` and membership of `channel`.

    The receipt is `{"channel": id, "ts": timestamp}` of the root message. A notification that brings one updates that
    message and adds a line to its thread; when the message was deleted meanwhile, a new one is posted.
    """

    def __init__(self, *, token: str, channel: str, api_url: str = API_URL, timeout: int = TIMEOUT_SECONDS) -> None:
        if http_url(api_url) is None:
            raise WrongSettings("MONITOR_SLACK__API_URL is no http or https URL")
        self._channel = channel
        self._client = WebClient(
            token=token, base_url=api_url, timeout=timeout, retry_handlers=[], logger=_silent_logger()
        )
        self._client.proxy = None  # urllib's own reading of HTTPS_PROXY also honours NO_PROXY

    def send(self, notification: Notification) -> Mapping[str, Json]:
        """Sends once. Between update and thread a failure can repeat the update, which changes nothing.

        Raises:
            Retriable: Slack is out of reach, busy, or asked to wait.
            Fatal: Slack refuses for good; the message says what to change.
        """
        try:
            receipt = notification.previous
            if receipt is None or not self._update(receipt, root_message(notification)):
                return self._post(root_message(notification), channel=self._channel)
            self._post(thread_message(notification), channel=receipt["channel"], thread_ts=receipt["ts"])
        except _Refused as refused:
            raise _named(refused) from None
        return receipt

    def _update(self, receipt: Mapping[str, Json], message: SlackMessage) -> bool:
        """False when the message is gone. One that may not be edited any more stays as it is."""
        place = {"channel": receipt["channel"], "ts": receipt["ts"]}
        try:
            _with_or_without_blocks(
                message, lambda content: self._call("chat.update", {**place, "blocks": [], **content, **_QUIET})
            )
        except _Refused as refused:
            if refused.word in _GONE:
                return False
            if refused.word not in _NOT_EDITABLE:
                raise
            log.warning("slack: the message of an alert could not be edited (%s)", refused.word)
        return True

    def _post(self, message: SlackMessage, **place: Json) -> Mapping[str, Json]:
        answer = _with_or_without_blocks(
            message,
            lambda content: self._call("chat.postMessage", {**place, **content, **_QUIET, **_NO_PREVIEW}),
        )
        return {"channel": answer.get("channel") or place["channel"], "ts": answer["ts"]}

    def check(self) -> str:
        """As the port says. Whether the bot may post in the channel shows only when it does: asking needs more scopes.

        Raises:
            Retriable, Fatal: as `send` does.
        """
        try:
            answer = self._call("auth.test", {}, expected="team")
        except _Refused as refused:
            raise _named(refused) from None
        return f"bot {plain(str(answer.get('user')))} of {plain(answer['team'])}, for channel {self._channel}"

    def _call(self, method: str, payload: dict[str, Any], *, expected: str = "ts") -> dict[str, Any]:
        try:
            answer = self._client.api_call(method, json=payload)
        except SlackApiError as error:
            word = error.response.get("error") or ""
            raise _Refused(_word(word), error.response.status_code, _retry_after(error.response.headers)) from None
        except (OSError, HTTPException, ValueError, SlackClientError) as error:
            raise _out_of_reach(error) from None
        if not isinstance(answer.data, dict) or not isinstance(answer.data.get(expected), str):
            raise Retriable("slack: the answer is not Slack's; check MONITOR_SLACK__API_URL")
        return answer.data


class SlackWebhook:
    """Posts to an incoming webhook: a message of its own for every notification, since a webhook cannot edit."""

    def __init__(self, *, url: str, timeout: int = TIMEOUT_SECONDS) -> None:
        if http_url(url) is None:
            raise WrongSettings("MONITOR_SLACK__WEBHOOK_URL is no http or https URL")
        self._client = WebhookClient(url, timeout=timeout, retry_handlers=[], logger=_silent_logger())
        self._client.proxy = None  # as above

    def send(self, notification: Notification) -> None:
        """Sends once, without a receipt.

        Raises:
            Retriable: Slack is out of reach, busy, or asked to wait.
            Fatal: Slack refuses for good; the message says what to change.
        """
        try:
            _with_or_without_blocks(
                root_message(notification), lambda content: self._call({**content, **_QUIET, **_NO_PREVIEW})
            )
        except _Refused as refused:
            raise _named(refused) from None

    def check(self) -> str:
        """As the port says."""
        return "an incoming webhook, which cannot be tried without posting"

    def _call(self, payload: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = self._client.send_dict(payload)
        except (OSError, HTTPException, ValueError, SlackClientError) as error:
            raise _out_of_reach(error) from None
        if answer.status_code != 200 or answer.body.strip() != "ok":  # noqa: PLR2004  HTTP's word for fine
            raise _Refused(_word(answer.body.strip()), answer.status_code, _retry_after(answer.headers))
        return {}


def _with_or_without_blocks(message: SlackMessage, call: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """A page that Slack will not show in blocks is still a page: then its one line goes out alone."""
    try:
        return call({"text": message.text, "blocks": message.blocks})
    except _Refused as refused:
        if refused.word not in _REFUSED_BLOCKS:
            raise
        log.error("slack: the blocks of a message were refused (%s); %s", refused.word, _DEFECT)  # noqa: TRY400
        return call({"text": message.text})


def _named(refused: _Refused) -> Retriable | Fatal:
    said = f"slack: {refused.word or 'refused'} (HTTP {refused.status})"
    if refused.status == _TOO_MANY_REQUESTS or refused.word in ("ratelimited", "rate_limited"):
        return Retriable(said, retry_after=refused.retry_after)
    if mend := _MEND.get(refused.word):
        return Fatal(f"{said}: {mend}")
    return Retriable(said, retry_after=refused.retry_after)


def _out_of_reach(error: Exception) -> Retriable:
    """Names the kind of error and the system's own reason. The error's text is left out: it may hold the URL."""
    reason = getattr(error, "reason", error)
    detail = reason.strerror if isinstance(reason, OSError) and reason.strerror else type(reason).__name__
    return Retriable(f"slack: out of reach: {detail}")


def _word(text: object) -> str:
    """Slack's one-word errors as they are; anything longer is a page of something in between, and left out."""
    return text if isinstance(text, str) and _WORD.fullmatch(text) else ""


def _retry_after(headers: Mapping[str, Any]) -> float | None:
    said = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    said = said[0] if isinstance(said, list) and said else said
    return float(said) if isinstance(said, str) and said.isascii() and said.isdigit() and len(said) < 10 else None  # noqa: PLR2004


def _silent_logger() -> logging.Logger:
    """slack_sdk logs the webhook URL and whole payloads at DEBUG; we say ourselves what went wrong."""
    return logging.Logger("slack_sdk", level=logging.CRITICAL + 1)  # noqa: LOG001  attached to nothing on purpose
