"""Carries out clicks on the buttons of a message; they arrive over Socket Mode, so no port of ours has to be open.

A click is acknowledged to Slack at once and carried out by a worker, which then replies to the person who clicked.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Lock
from typing import Any

from monitor.alert.ports import Actions
from monitor.alert.receivers.slack.client import API_URL, SlackClient, WebhookPost
from monitor.alert.receivers.slack.errors import Refused
from monitor.alert.receivers.slack.message import ACKNOWLEDGE, SILENCES, reply_message
from monitor.alert.receivers.slack.responders import Responders
from monitor.alert.receivers.slack.socket import SlackSocket
from monitor.alert.wording import http_url
from monitor.core.errors import Retriable
from monitor.core.settings.load import Settings
from monitor.core.text.plain import shortened

log = logging.getLogger(__name__)

_WORKERS = 2
_REMEMBERED = 1_000  # clicks, to recognize a second delivery
_MAX_NAME, _MAX_LOGGED = 80, 500
_NOT_NOW = "Not done: monitor cannot do this right now. Try again in a minute."


def actions_from_settings(settings: Settings, actions: Actions) -> SlackActions | None:
    """The listener if an app token, a bot token and a channel are set, else None."""
    slack = settings.slack
    if not (slack.app_token and slack.bot_token and slack.channel):
        return None
    return SlackActions(
        app_token=slack.app_token.get_secret_value(),
        bot_token=slack.bot_token.get_secret_value(),
        channel=slack.channel,
        actions=actions,
        allowed=slack.responders,
        api_url=slack.api_url,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Click:
    """One press of one of our buttons. `id` is the same in every delivery of the press."""

    id: str
    action: str
    episode: str
    person: str
    name: str
    channel: str
    response_url: str | None

    @property
    def by(self) -> str:
        """The person as the audit trail names them: `slack:U123 (ada)`."""
        return f"slack:{self.person} ({shortened(self.name, _MAX_NAME)})"


class SlackActions:
    """Listens between `start` and `stop` without raising: errors are logged, and lost links are restored.

    Only clicks in `channel`, an id or a #name, count. `allowed` is as in `Responders`; `clock` is in seconds.
    """

    def __init__(
        self,
        *,
        app_token: str,
        bot_token: str,
        channel: str,
        actions: Actions,
        allowed: Sequence[str] = (),
        api_url: str = API_URL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._channel = channel.removeprefix("#")
        self._actions = actions
        self._client = SlackClient(token=bot_token, api_url=api_url)
        self._responders = Responders(allowed, client=self._client, clock=clock)
        self._socket = SlackSocket(app_token=app_token, api_url=api_url, receive=self.receive)
        self._workers = ThreadPoolExecutor(max_workers=_WORKERS, thread_name_prefix="slack-action")
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def start(self) -> None:
        """Connects in the background, and reconnects whenever the link is lost."""
        self._socket.start()

    def stop(self) -> None:
        """Closes the link within seconds. The click in progress is finished; clicks in the queue are dropped."""
        self._socket.stop()
        self._workers.shutdown(wait=False, cancel_futures=True)

    def receive(self, payload: Mapping[str, Any]) -> None:
        """Accepts an interaction; ignores clicks on other buttons and clicks that were accepted before."""
        click = click_of(payload, channel=self._channel)
        if click is None or not self._is_new(click):
            return
        try:
            self._workers.submit(self._carry_out, click)
        except RuntimeError:  # the workers are shut down
            log.warning("slack: a click by %s came during shutdown and is dropped", click.by)

    def _is_new(self, click: Click) -> bool:
        with self._lock:
            if click.id in self._seen:
                return False
            self._seen[click.id] = None
            if len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
            return True

    def _carry_out(self, click: Click) -> None:
        try:
            line = self._outcome(click)
            reply = shortened(line, _MAX_LOGGED)
            log.info("slack: %s by %s on episode %s: %s", click.action, click.by, shortened(click.episode, 80), reply)
            self._reply(click, line)
        except Exception:  # one click must not end the listener
            log.exception("slack: a click by %s failed", click.by)

    def _outcome(self, click: Click) -> str:
        try:
            if not self._responders.may(click.person):
                return "Not done: you are not in the list of responders (MONITOR_SLACK__RESPONDERS)."
            if click.action == ACKNOWLEDGE:
                return self._actions.acknowledge(click.episode, by=click.by)
            return self._actions.silence(click.episode, SILENCES[click.action], by=click.by)
        except Retriable as error:
            log.warning("slack: a click by %s was not carried out: %s", click.by, error)
            return _NOT_NOW
        except Exception:
            log.exception("slack: a click by %s failed because of a defect", click.by)
            return "Not done: an internal error occurred; it is in the log of monitor."

    def _reply(self, click: Click, line: str) -> None:
        """Replies only to the person who clicked: by the URL that came with the click, else by a message of the bot."""
        content = reply_message(line).content
        try:
            if click.response_url is not None:
                answer = {"response_type": "ephemeral", "replace_original": False, **content}
                WebhookPost(click.response_url).post(answer)
                return
        except (Refused, Retriable) as error:
            log.info("slack: the reply to a click goes through the bot instead of its URL (%s)", error)
        try:
            to = {"channel": click.channel, "user": click.person}
            self._client.write("chat.postEphemeral", {**to, **content}, expected="message_ts")
        except (Refused, Retriable) as error:
            log.warning("slack: %s could not get a reply to a click (%s)", click.by, error)


def click_of(payload: Mapping[str, Any], *, channel: str) -> Click | None:
    """The press of one of our buttons in `channel` (id or name) that `payload` describes, or None."""
    try:
        action, user, place = payload["actions"][0], payload["user"], payload["channel"]
        click = Click(
            id=f"{user['id']} {action['action_id']} {action['action_ts']} {action['value']}",
            action=action["action_id"],
            episode=action["value"],
            person=user["id"],
            name=user.get("username") or user.get("name") or "",
            channel=place["id"],
            response_url=http_url(payload.get("response_url")),
        )
        ours = payload["type"] == "block_actions" and channel in (place["id"], place.get("name"))
        texts = (click.action, click.episode, click.person, click.name, click.channel)
    except (KeyError, IndexError, TypeError, AttributeError):
        return None
    known = ours and all(isinstance(text, str) for text in texts) and click.action in (ACKNOWLEDGE, *SILENCES)
    return click if known else None
