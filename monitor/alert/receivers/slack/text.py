"""Makes any text harmless for Slack: entities, look-alikes, and the smallest pieces of Block Kit.

Text from outside only appears in `plain_text` objects, where Slack parses no formatting, link or mention, with `&`, `<`
and `>` as entities. `mrkdwn` holds our own words, figures and links.
"""

from __future__ import annotations

from dataclasses import dataclass

from monitor.alert.wording import http_url
from monitor.core.model import Json
from monitor.core.text.plain import shortened, units

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# Some clients parse mrkdwn despite our flags: formatting characters become look-alikes, and a word joiner follows the
# signs of names, so that @here and #channel stay words.
_LOOKALIKES = {"*": "∗", "_": "ˍ", "~": "∼", "`": "ˋ", "@": "@\u2060", "#": "#\u2060"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """The content of one message; push notifications and clients without blocks show `text`."""

    text: str
    blocks: list[Json]

    @property
    def content(self) -> dict[str, Json]:
        """The form that Slack's methods take."""
        return {"text": self.text, "blocks": self.blocks}


def escape(text: str) -> str:
    """Replaces `&`, `<` and `>` by the entities that Slack requires."""
    return "".join(_ENTITIES.get(character, character) for character in text)


def foreign(text: str, limit: int) -> str:
    """Text from outside for a `plain_text` object, in at most `limit` UTF-16 units."""
    return shortened(text, limit, escape)


def inert(text: str, limit: int) -> str:
    """Text from outside for places where mrkdwn may be parsed, in at most `limit` UTF-16 units."""
    return shortened(text, limit, lambda character: _LOOKALIKES.get(character, escape(character)))


def plain_text(text: str) -> Json:
    """A text object that parses nothing; `text` is already escaped."""
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> Json:
    """A text object with formatting, for our own words only."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def section(text: Json) -> Json:
    """A block of one text object."""
    return {"type": "section", "text": text}


def link(url: str | None, name: str, limit: int) -> Json:
    """A link with our own `name`; None if `url` is not a URL or takes more than `limit` units."""
    known = escape(http_url(url) or "")
    return mrkdwn(f"<{known}|{name}>") if 0 < units(known) <= limit else None
