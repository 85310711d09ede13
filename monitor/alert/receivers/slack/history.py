"""Finds our own messages in the channel, for the case that an answer from Slack was lost.

Every message carries invisible metadata: the episode and the number of the notification. The search needs the scope
`channels:history` (`groups:history` in a private channel) and the channel's id, not its name; without them it finds
nothing, and a notification in doubt is posted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from monitor.alert.notification import Notification
from monitor.alert.receivers.slack.client import SlackClient
from monitor.alert.receivers.slack.errors import Refused
from monitor.core.errors import Fatal
from monitor.core.model import Json

log = logging.getLogger(__name__)

# The kinds of our messages; a reply that is also shown in the channel is not a root.
ROOT, NEWS = "monitor_episode", "monitor_news"
_MARGIN = timedelta(minutes=5)  # by which Slack's clock and ours may differ
_PAGE, _MAX_PAGES = 200, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A root message in the channel; `number` is the number of the notification that posted it."""

    channel: str
    ts: str
    number: int


def metadata(kind: str, notification: Notification) -> dict[str, Json]:
    """The metadata by which `SlackHistory` recognizes a message of `kind`."""
    return {
        "event_type": kind,
        "event_payload": {"episode": notification.episode, "number": notification.number},
    }


class SlackHistory:
    """Searches one channel. Methods may raise `Retriable`; without permission to read they find nothing."""

    def __init__(self, *, client: SlackClient, channel: str) -> None:
        self._client = client
        self._channel = channel
        self._bot: str | None = None
        self._warned = False

    def root(self, notification: Notification) -> Root | None:
        """The newest root message of the notification's episode, among the last thousand messages since it began."""
        since = notification.fired_at if notification.number else notification.at
        place = {"channel": self._channel}
        for message, payload in self._ours("conversations.history", place, ROOT, notification, since):
            return Root(channel=self._channel, ts=str(message["ts"]), number=int(payload["number"]))
        return None

    def replied(self, notification: Notification, thread: Mapping[str, Json]) -> bool:
        """Whether the notification's line is already in its thread."""
        place = {"channel": thread["channel"], "ts": thread["ts"]}
        found = self._ours("conversations.replies", place, NEWS, notification, notification.at)
        return any(payload["number"] == notification.number for _, payload in found)

    def _ours(
        self, method: str, place: Mapping[str, Json], kind: str, notification: Notification, since: datetime
    ) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
        """The messages of this bot with this kind and episode, each with its payload."""
        oldest = f"{(since - _MARGIN).timestamp():.6f}"
        for message in self._messages(method, {**place, "oldest": oldest}):
            known = message.get("metadata") or {}
            payload = known.get("event_payload") or {}
            ours = known.get("event_type") == kind and payload.get("episode") == notification.episode
            if ours and isinstance(payload.get("number"), int) and message.get("bot_id") == self._own_id():
                yield message, payload

    def _messages(self, method: str, arguments: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
        cursor = None
        for page in range(_MAX_PAGES):
            asked = {**arguments, "limit": _PAGE, "include_all_metadata": True}
            try:
                answer = self._client.read(method, asked | ({"cursor": cursor} if cursor else {}), expected="messages")
            except Refused as refused:
                if refused.too_many and page:
                    return  # some apps get one page a minute: waiting for the second would never end
                if not isinstance(refused.named(), Fatal):
                    raise
                self._warn(refused)
                return
            yield from answer["messages"]
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return

    def _own_id(self) -> str:
        if self._bot is None:
            self._bot = str(self._client.write("auth.test", {}, expected="team").get("bot_id"))
        return self._bot

    def _warn(self, refused: Refused) -> None:
        if not self._warned:
            self._warned = True
            log.warning(
                "slack: posted messages cannot be looked up (%s), so a message may be posted twice; give the app the "
                "scope channels:history (groups:history for a private channel) and set MONITOR_SLACK__CHANNEL to the "
                "channel's id",
                refused.word,
            )
