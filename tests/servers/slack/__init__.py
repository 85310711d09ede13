"""A scripted Slack on 127.0.0.1 over real HTTP and a real WebSocket.

It answers chat.*, conversations.*, files.*, usergroups.users.list, apps.connections.open and webhooks, refuses what
Slack's documentation says that Slack refuses, and keeps the messages as a channel would show them, with edits and
threads. `SlackServer` says how to script it.
"""

from tests.servers.slack.blocks import PING, buttons, mrkdwn, picture, problems, shown, texts, units
from tests.servers.slack.server import (
    APP_TOKEN,
    BOT_ID,
    BROKEN,
    CHANNEL,
    CHANNEL_NAME,
    HANG_UP,
    HOOK_PATH,
    RATE_LIMITED,
    SENT_BUT_LOST,
    TOKEN,
    Posted,
    SlackServer,
    Trouble,
)
from tests.servers.slack.serving import slack_server
from tests.servers.slack.socket import SocketEnd, click

__all__ = [
    "APP_TOKEN",
    "BOT_ID",
    "BROKEN",
    "CHANNEL",
    "CHANNEL_NAME",
    "HANG_UP",
    "HOOK_PATH",
    "PING",
    "RATE_LIMITED",
    "SENT_BUT_LOST",
    "TOKEN",
    "Posted",
    "SlackServer",
    "SocketEnd",
    "Trouble",
    "buttons",
    "click",
    "mrkdwn",
    "picture",
    "problems",
    "shown",
    "slack_server",
    "texts",
    "units",
]
