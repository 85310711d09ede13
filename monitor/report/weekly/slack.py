"""Renders a report as one Slack message, within Slack's limits whatever the texts are, as in `slack/message.py`."""

from __future__ import annotations

from monitor.alert.receivers.slack.text import SlackMessage, foreign, inert, plain_text, section
from monitor.core.model import Json
from monitor.report.weekly.actions import actions, calm
from monitor.report.weekly.elements import Item
from monitor.report.weekly.summary import headline, period, title, warnings

# Limits in UTF-16 units after escaping; Slack allows 3,000 in a plain text object and 150 in a header.
_HEADER, _LINE, _FALLBACK, _PERIOD = 150, 380, 500, 150


def slack_message(content: Item) -> SlackMessage:
    """The headline and the warnings; text from outside stays in fields that Slack does not parse."""
    lines = "\n".join(f"• {foreign(line, _LINE)}" for line in headline(content))
    todo = [f"{place}. {foreign(action.text, _LINE)}" for place, action in enumerate(actions(content), start=1)]
    quiet = calm(content)
    blocks: list[Json] = [{"type": "header", "text": plain_text(foreign(title(content), _HEADER))}]
    if todo or quiet:
        blocks.append(section(plain_text("\n".join(todo or [foreign(str(quiet), _LINE)]))))
    blocks.append(section(plain_text(lines)))
    if noted := warnings(content):
        blocks.append(section(plain_text("\n".join(foreign(line, _LINE) for line in noted))))
    blocks.append({"type": "context", "elements": [plain_text(foreign(period(content), _PERIOD))]})
    text = f"{inert(title(content), _FALLBACK)}: {inert(_first(content), _FALLBACK)}"
    return SlackMessage(text=text, blocks=blocks)


def _first(content: Item) -> str:
    """What a notification shows."""
    return next((action.text for action in actions(content)), headline(content)[0])
