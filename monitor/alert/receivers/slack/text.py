"""Text in Slack's terms, harmless whatever it says: entities, look-alikes, and the smallest pieces of Block Kit.

Text from outside stands in `plain_text` objects only, where no formatting, link or mention is parsed, with `&`, `<` and
`>` as entities. `mrkdwn` holds our own words, figures and links.
"""

from __future__ import annotations

from dataclasses import dataclass

from monitor.alert.wording import http_url
from monitor.core.model import Json
from monitor.core.text.plain import shortened, units

_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# What a client may parse as mrkdwn although our flags say no: look-alikes for the signs of formatting, and a word
# joiner after the signs of names, so that @here and #channel stay words.
_LOOKALIKES = {"*": "∗", "_": "ˍ", "~": "∼", "`": "ˋ", "@": "@\u2060", "#": "#\u2060"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """The content of one message: `text` is what notifications and clients without blocks show."""

    text: str
    blocks: list[Json]

    @property
    def content(self) -> dict[str, Json]:
        """As Slack's methods take it."""
        return {"text": self.text, "blocks": self.blocks}


def escape(text: str) -> str:
    """`&`, `<` and `>` as the entities that Slack asks for."""
    return "".join(_ENTITIES.get(character, character) for character in text)


def foreign(text: str, limit: int) -> str:
    """Text from outside for a `plain_text` object, in at most `limit` UTF-16 units."""
    return shortened(text, limit, escape)


def inert(text: str, limit: int) -> str:
    """The same for where mrkdwn may be parsed."""
    return shortened(text, limit, lambda character: _LOOKALIKES.get(character, escape(character)))


def plain_text(text: str) -> Json:
    """A text object that parses nothing; `text` is escaped already."""
    return {"type": "plain_text", "text": text, "emoji": False}


def mrkdwn(text: str) -> Json:
    """A text object with formatting, for our own words only."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def section(text: Json) -> Json:
    """A block of one text object."""
    return {"type": "section", "text": text}


def link(url: str | None, name: str, limit: int) -> Json:
    """A link by our own `name`. None where `url` is no URL, or so long that it is no use to anybody."""
    known = escape(http_url(url) or "")
    return mrkdwn(f"<{known}|{name}>") if 0 < units(known) <= limit else None
