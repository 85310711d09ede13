"""Shows on the terminal what Slack would show, from the blocks that the Slack receiver posts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from html import unescape
from typing import Any, ClassVar

from rich.console import Console
from rich.panel import Panel
from rich.text import Text
from typing_extensions import override

from monitor.alert.notification import Notification
from monitor.alert.ports import Receiver
from monitor.alert.receivers.slack.message import root_message, thread_message

_LINK = re.compile(r"<([^|>]+)\|([^>]+)>")
_WIDTH = 100
_REST = "and how sure that is, what changed, three answers, buttons"


class SlackPreview(Receiver):
    """A receiver that prints the root message when an episode begins, then the messages in its thread.

    With `brief`, of a root message only what leads: the alert, its cause, since when and its rate.
    """

    resend: ClassVar[timedelta | None] = None

    def __init__(self, console: Console, *, brief: bool = False) -> None:
        self._console = console
        self._brief = brief

    @override
    def send(self, notification: Notification) -> None:
        first = notification.number == 0
        message = root_message(notification, buttons=True) if first else thread_message(notification)
        blocks: list[Any] = message.blocks
        lines = [line for block in blocks for line in _lines(block)]
        if self._brief:
            lines = _leading(blocks) if first else [line for line in lines if line.plain]
        title = "Slack would receive" if first else "Slack would receive, in the thread of the first message"
        colour = "green" if notification.over else "red"
        panel = Panel(Text("\n").join(lines), title=title, title_align="left", border_style=colour, width=_WIDTH)
        panel.subtitle, panel.subtitle_align = _REST if self._brief and first else None, "left"
        self._console.print(panel)

    @override
    def check(self) -> str:
        return "a preview on the terminal"


def _leading(blocks: Sequence[Mapping[str, Any]]) -> list[Text]:
    """The header, the first line of the cause, since when, and the alert's rate."""
    cause, figures = blocks[1], next(block["fields"] for block in blocks if "fields" in block)
    led = [_plain(figure).replace("*", "").replace("\n", ": ", 1) for figure in figures[:2]]
    lines = [_plain(cause["text"]).partition("\n")[0], " · ".join(led)]
    return [Text(_plain(blocks[0]["text"]), style="bold"), *map(Text, lines)]


def _lines(block: Mapping[str, Any]) -> list[Text]:
    match block["type"]:
        case "header":
            return [Text(_plain(block["text"]), style="bold"), Text()]
        case "section" if "fields" in block:
            shown = [_plain(field).replace("*", "").replace("\n", ": ", 1) for field in block["fields"]]
            return [*map(Text, shown), Text()]
        case "section":
            return [Text(_plain(block["text"]).strip("*")), Text()]
        case "context":
            return [Text(" · ".join(_plain(element) for element in block["elements"]), style="dim")]
        case "actions":
            return [Text(" ".join(f"[ {_plain(button['text'])} ]" for button in block["elements"]), style="cyan")]
        case _:
            return []


def _plain(text: Mapping[str, Any]) -> str:
    return unescape(_LINK.sub(r"\2 (\1)", str(text["text"])))
