"""Slack's receivers as the contract of all receivers wants them (tests/contract/test_receiver.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from monitor.alert.ports import Receiver
from monitor.alert.receivers.slack.bot import SlackBot
from monitor.alert.receivers.slack.webhook import SlackWebhook
from tests.servers.slack.blocks import PING, mrkdwn, problems, shown, texts
from tests.servers.slack.server import BROKEN, CHANNEL, HOOK_PATH, TOKEN, SlackServer, Trouble
from tests.servers.slack.serving import slack_server

BIDI = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
LINK = re.compile(r"<https?://[^\s<>|]+\|(?:Runbook|Open in monitor|Example [1-3])>")
MESSAGES = {"/api/chat.postMessage", "/api/chat.update", HOOK_PATH}
PICTURE = b"\x89PNG\r\n\x1a\nmade up"


class Stepping:
    """A clock in seconds that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class SlackBench:
    def __init__(self, server: SlackServer, receiver: Receiver) -> None:
        self.server = server
        self.receiver = receiver

    def received(self) -> list[str]:
        """Messages as people see them, oldest first, an edit as a message of its own."""
        return [shown(payload) for payload in self._messages()]

    def fail(self, *, for_good: bool) -> None:
        webhook = isinstance(self.receiver, SlackWebhook)
        gone = Trouble(error="channel_not_found", status=404 if webhook else 200)
        self.server.script.append(gone if for_good else BROKEN)

    def check(self) -> None:
        for payload in self._messages():
            assert not problems(payload)
            assert payload["blocks"]
            for text in (*texts(payload["blocks"]), payload["text"]):
                assert not PING.search(text)
                assert not BIDI.search(text)
                assert not CONTROL.search(text)
            assert not re.search(r"[<>`*_~]|@(?!\u2060)|#(?!\u2060)", payload["text"])
            for item in mrkdwn(payload["blocks"]):
                assert "evil" not in item
                assert not re.search("[<>]", LINK.sub("", item))
        assert not [text for payload in self.server.replies for text in texts(payload) if PING.search(text)]

    def forget(self) -> None:
        self.server.reset()

    def _messages(self) -> list[dict]:
        return [payload for path, payload in self.server.requests if path in MESSAGES]


@contextmanager
def slack_bot() -> Iterator[SlackBench]:
    """With buttons and charts, and with a clock that does not make the test wait."""
    clock = Stepping()
    with slack_server() as server:
        receiver = SlackBot(
            token=TOKEN,
            channel=CHANNEL,
            api_url=server.url,
            draw=lambda _: PICTURE,
            buttons=True,
            clock=clock,
            sleep=clock.sleep,
        )
        yield SlackBench(server, receiver)


@contextmanager
def slack_webhook() -> Iterator[SlackBench]:
    """The same for an incoming webhook."""
    clock = Stepping()
    with slack_server() as server:
        yield SlackBench(server, SlackWebhook(url=server.hook, clock=clock, sleep=clock.sleep))
