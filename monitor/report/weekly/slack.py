"""A report as one message of Slack's, within its limits whatever the texts are; see `slack/blocks.py`."""

from __future__ import annotations

from monitor.alert.receivers.slack.text import SlackMessage, foreign, inert, plain_text, section
from monitor.core.model import Json
from monitor.report.weekly.summary import headline, period, title, warnings
from monitor.report.weekly.wording import Found

# In UTF-16 units after escaping; a plain text object takes 3,000, a header 150.
_HEADER, _LINE, _FALLBACK, _PERIOD = 150, 380, 500, 150


def slack_message(content: Found) -> SlackMessage:
    """The headline and the warnings; what comes from outside stands where nothing is parsed."""
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
