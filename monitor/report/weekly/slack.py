"""Renders a report as one Slack message, within Slack's limits whatever the texts are, as in `slack/message.py`."""

from __future__ import annotations

from monitor.alert.receivers.slack.text import SlackMessage, foreign, inert, plain_text, section
from monitor.core.model import Json
from monitor.report.weekly.elements import Item
from monitor.report.weekly.summary import headline, period, title, warnings

# Limits in UTF-16 units after escaping; Slack allows 3,000 in a plain text object and 150 in a header.
_HEADER, _LINE, _FALLBACK, _PERIOD = 150, 380, 500, 150


def slack_message(content: Item) -> SlackMessage:
    """The headline and the warnings; text from outside stays in fields that Slack does not parse."""
    lines = "\n".join(f"• {foreign(line, _LINE)}" for line in headline(content))
    blocks: list[Json] = [
        {"type": "header", "text": plain_text(foreign(title(content), _HEADER))},
        section(plain_text(lines)),
    ]
    if noted := warnings(content):
        blocks.append(section(plain_text("\n".join(foreign(line, _LINE) for line in noted))))
    blocks.append({"type": "context", "elements": [plain_text(foreign(period(content), _PERIOD))]})
    text = f"{inert(title(content), _FALLBACK)}: {inert(headline(content)[0], _FALLBACK)}"
    return SlackMessage(text=text, blocks=blocks)
