"""A scripted Slack over real HTTP, and a bot and a webhook for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from monitor.alert.receivers.slack.bot import SlackBot
from monitor.alert.receivers.slack.webhook import SlackWebhook
from tests.servers.slack import (
    CHANNEL,
    TOKEN,
    SlackServer,
    slack_server,
)
from tests.servers.slack.bench import Stepping


@pytest.fixture(scope="module")
def running() -> Iterator[SlackServer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.setenv("no_proxy", "127.0.0.1")
        with slack_server() as server:
            yield server


@pytest.fixture
def server(running: SlackServer) -> SlackServer:
    running.reset()
    return running


@pytest.fixture
def clock() -> Stepping:
    return Stepping()


@pytest.fixture
def new_bot(server: SlackServer, clock: Stepping):
    def make(**settings) -> SlackBot:
        known = {"token": TOKEN, "channel": CHANNEL, "api_url": server.url, "clock": clock, "sleep": clock.sleep}
        return SlackBot(**known | settings)

    return make


@pytest.fixture
def bot(new_bot) -> SlackBot:
    return new_bot()


@pytest.fixture
def webhook(server: SlackServer, clock: Stepping) -> SlackWebhook:
    return SlackWebhook(url=server.hook, clock=clock, sleep=clock.sleep)
