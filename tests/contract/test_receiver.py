"""What every receiver promises: to send once, to say whether a failure may pass, to be steered by no foreign text."""

from __future__ import annotations

import io
import logging
import os
import re
import socket
from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.alert.notification import Notification
from monitor.alert.receivers import configured
from monitor.alert.receivers.console import Console
from monitor.alert.receivers.slack import SlackBot, SlackWebhook
from monitor.errors import Fatal, Retriable, WrongSettings
from monitor.ports import Receiver
from monitor.settings import Settings
from monitor.testing import MemoryReceiver
from tests.slack_server import (
    BROKEN,
    CHANNEL,
    CHANNEL_NAME,
    HANG_UP,
    HOOK_PATH,
    PING,
    RATE_LIMITED,
    SENT_BUT_LOST,
    TOKEN,
    SlackServer,
    Trouble,
    problems,
    shown,
    slack_server,
    texts,
)
from tests.unit.alert.factories import a_notification, an_example, at

BIDI = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]")
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")

HOSTILE = [
    "<!channel> <!here> @here @channel",
    "<@U123> <#C123> <!subteam^S1>",
    "<https://evil.example|click here>",
    "``` `code` ```",
    "*bold* _it_ ~gone~ > quote",
    "&lt;!channel&gt; &amp;lt;",
    "&" * 40_000,
    "x" * 40_000,
    "👩‍👩‍👧‍👦🔥" * 5_000,
    "\u202egnp.exe\u202c \u2066abc\u2069 \u200f",
    "\x1b[31mred\x1b[0m\x07\r\n\n\ttab",
    "",
    " \u200b\u200d ",
    "\u0301" * 500,
    "\x00",
    "a\ud800b",
]
texts_from_outside = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=200),
    st.text(alphabet="<>!@#|&;ltgamp*_~`\u202e\u200d🔥 \n", max_size=400),
    st.builds(lambda text, times: text * times, st.text(min_size=1, max_size=5), st.integers(1, 5_000)),
)


class Bench(Protocol):
    """One receiver with what a test has to know about its other end."""

    receiver: Receiver

    def received(self) -> list[str]:
        """What arrived, as people see it, oldest first."""

    def fail(self, *, for_good: bool) -> None:
        """Makes the next `send` meet a failure."""

    def check(self) -> None:
        """Asserts that nothing that arrived does harm."""


class MemoryBench:
    def __init__(self) -> None:
        self.receiver = MemoryReceiver()

    def received(self) -> list[str]:
        return [f"{n.status} {n.rule} {[e.answer for e in n.examples]}" for n in self.receiver.sent]

    def fail(self, *, for_good: bool) -> None:
        self.receiver.failures.append(Fatal("no") if for_good else Retriable("not now"))

    def check(self) -> None:
        """It renders nothing."""


class BrokenPipe(io.StringIO):
    def flush(self) -> None:
        raise BrokenPipeError(32, "Broken pipe")


class ConsoleBench:
    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.receiver = Console(self.stream)

    def received(self) -> list[str]:
        return [part for part in self.stream.getvalue().split("\n\n") if part]

    def fail(self, *, for_good: bool) -> None:
        stream = io.StringIO() if for_good else BrokenPipe()
        if for_good:
            stream.close()
        self.receiver = Console(stream)

    def check(self) -> None:
        assert not BIDI.search(self.stream.getvalue())
        assert not CONTROL.search(self.stream.getvalue())


class SlackBench:
    def __init__(self, server: SlackServer, receiver: Receiver) -> None:
        self.server = server
        self.receiver = receiver

    def received(self) -> list[str]:
        return [shown(payload) for path, payload in self.server.requests if not path.endswith("auth.test")]

    def fail(self, *, for_good: bool) -> None:
        gone = Trouble(error="channel_not_found", status=404 if isinstance(self.receiver, SlackWebhook) else 200)
        self.server.script.append(gone if for_good else BROKEN)

    def check(self) -> None:
        for _, payload in self.server.requests:
            assert not problems(payload)
            assert payload["blocks"]
            for text in (*texts(payload["blocks"]), payload["text"]):
                assert not PING.search(text)
                assert not BIDI.search(text)
                assert not CONTROL.search(text)
            assert not re.search(r"[<>`*_~]|@(?!\u2060)|#(?!\u2060)", payload["text"])
            for item in mrkdwn(payload["blocks"]):
                assert "evil" not in item
                assert not re.search(r"<(?!https?://[^\s<>|]+\|(Runbook|Open in monitor)>)", item)


def mrkdwn(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("type") == "mrkdwn":
            yield value["text"]
        for child in value.values():
            yield from mrkdwn(child)
    elif isinstance(value, list):
        for child in value:
            yield from mrkdwn(child)


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
def bot(server: SlackServer) -> SlackBot:
    return SlackBot(token=TOKEN, channel="#alerts", api_url=server.url)


@pytest.fixture
def webhook(server: SlackServer) -> SlackWebhook:
    return SlackWebhook(url=server.hook)


@pytest.fixture(params=["memory", "console", "slack bot", "slack webhook"])
def bench(request: pytest.FixtureRequest, server: SlackServer, bot: SlackBot, webhook: SlackWebhook) -> Bench:
    if request.param == "memory":
        return MemoryBench()
    if request.param == "console":
        return ConsoleBench()
    return SlackBench(server, bot if request.param == "slack bot" else webhook)


def resolved(firing: Notification, receipt: object) -> Notification:
    return replace(firing, status="resolved", at=at(20), value=0.05, previous=receipt)


# --- every receiver ---


def test_firing_then_resolved_arrive_in_this_order(bench):
    receipt = bench.receiver.send(a_notification())
    bench.receiver.send(resolved(a_notification(), receipt))
    seen = bench.received()
    assert "negative-rate" in seen[0]
    assert "firing" in seen[0].lower()
    assert "two hours" in seen[0]
    assert "resolved" in seen[-1].lower()
    bench.check()


def test_a_failure_that_may_pass_is_retriable(bench):
    bench.fail(for_good=False)
    with pytest.raises(Retriable):
        bench.receiver.send(a_notification())


def test_a_failure_that_will_not_pass_is_fatal(bench):
    bench.fail(for_good=True)
    with pytest.raises(Fatal):
        bench.receiver.send(a_notification())


@given(foreign=st.tuples(*[texts_from_outside] * 4), firing=st.booleans())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_text_from_outside_does_harm(bench, foreign, firing):
    question, answer, name, label = foreign
    example = an_example(id=name, question=question, answer=answer, verdict=name, reasons=(label, name))
    notification = a_notification(
        rule=name or "x",
        labels={"app": name, label or "x": question, **{f"l{n}": answer for n in range(6)}},
        annotations={"summary": question, "description": answer, "runbook": label, name or "y": answer},
        note=label,
        url=question,
        examples=(example, example, example),
    )
    if not firing:
        notification = resolved(notification, None)
    receipt = bench.receiver.send(notification)
    bench.receiver.send(resolved(notification, receipt))
    bench.check()
    if isinstance(bench, SlackBench):
        bench.server.reset()


# --- Slack ---


def test_it_says_where_messages_go_without_sending_one(bench):
    assert bench.receiver.check()
    assert bench.received() == []


def test_checking_the_bot_tries_its_token(server, bot):
    assert bot.check() == f"bot monitor of Quillmere, for channel {CHANNEL_NAME}"
    with pytest.raises(Fatal, match="invalid_auth"):
        SlackBot(token="xoxb-wrong", channel=CHANNEL, api_url=server.url).check()


def test_the_root_is_updated_and_the_thread_tells_the_history(server, bot):
    receipt = bot.send(a_notification())
    assert receipt["channel"] == CHANNEL
    assert bot.send(resolved(a_notification(), receipt)) == receipt
    (root,) = server.roots()
    (reply,) = server.thread(root.ts)
    assert root.edits == 1
    assert "Resolved: negative-rate" in shown(root.payload)
    assert "two hours" in shown(root.payload)
    assert "after 20m" in shown(reply.payload)


def test_a_root_that_was_deleted_is_posted_anew(server, bot):
    receipt = bot.send(a_notification())
    server.delete(receipt["ts"])
    again = bot.send(resolved(a_notification(), receipt))
    assert again != receipt
    assert [root.ts for root in server.roots()] == [again["ts"]]


def test_a_root_that_may_not_be_edited_still_gets_its_thread(server, bot):
    receipt = bot.send(a_notification())
    server.script.append(Trouble(error="edit_window_closed"))
    bot.send(resolved(a_notification(), receipt))
    assert len(server.thread(receipt["ts"])) == 1


def test_nobody_is_pinged_and_nothing_unfurls(server, bot, webhook):
    receipt = bot.send(a_notification())
    bot.send(resolved(a_notification(), receipt))
    webhook.send(a_notification())
    for path, payload in server.requests:
        assert (payload["parse"], payload["link_names"]) == ("none", False)
        if path != "/api/chat.update":
            assert (payload["unfurl_links"], payload["unfurl_media"], payload["mrkdwn"]) == (False, False, False)


def test_retry_after_is_passed_on(server, bot, webhook):
    for receiver in (bot, webhook):
        server.script.append(RATE_LIMITED)
        with pytest.raises(Retriable) as caught:
            receiver.send(a_notification())
        assert caught.value.retry_after == 30


@pytest.mark.parametrize(
    "trouble",
    [
        BROKEN,
        HANG_UP,
        SENT_BUT_LOST,
        Trouble(status=503, error="service_unavailable"),
        Trouble(status=429, headers={"Retry-After": "soon"}),
        Trouble(status=403, body="<html>the proxy says no</html>"),
        Trouble(status=200, body="<html>welcome to the hotel's network</html>"),
        Trouble(status=200, body="\udcff".encode("utf-8", "surrogateescape").decode("latin-1")),
        Trouble(error="a_word_that_is_new"),
    ],
    ids=lambda trouble: f"{trouble.status} {trouble.error or trouble.body or 'hang up'}"[:30],
)
def test_trouble_that_may_pass_is_retriable(server, bot, webhook, trouble):
    for receiver in (bot, webhook):
        server.script.append(trouble)
        with pytest.raises(Retriable):
            receiver.send(a_notification())


def test_a_timeout_is_retriable(bot, webhook, monkeypatch):
    def late(*_, **__):
        raise TimeoutError("timed out")

    monkeypatch.setattr("slack_sdk.web.base_client.urlopen", late)
    monkeypatch.setattr("slack_sdk.webhook.client.urlopen", late)
    for receiver in (bot, webhook):
        with pytest.raises(Retriable, match="TimeoutError"):
            receiver.send(a_notification())


@pytest.mark.parametrize(
    ("error", "mend"),
    [
        ("invalid_auth", "MONITOR_SLACK__BOT_TOKEN"),
        ("account_inactive", "MONITOR_SLACK__BOT_TOKEN"),
        ("channel_not_found", "MONITOR_SLACK__CHANNEL"),
        ("not_in_channel", "/invite"),
        ("missing_scope", "chat:write"),
        ("is_archived", "MONITOR_SLACK__CHANNEL"),
    ],
)
def test_a_refusal_of_the_bot_says_how_to_mend_it(server, bot, error, mend):
    server.script.append(Trouble(error=error))
    with pytest.raises(Fatal, match=mend):
        bot.send(a_notification())


@pytest.mark.parametrize(
    ("status", "word"), [(404, "no_service"), (403, "invalid_token"), (410, "channel_is_archived")]
)
def test_a_refusal_of_the_webhook_says_how_to_mend_it(server, webhook, status, word):
    server.script.append(Trouble(status=status, body=word))
    with pytest.raises(Fatal, match="MONITOR_SLACK__"):
        webhook.send(a_notification())


def test_a_wrong_token_is_refused(server):
    with pytest.raises(Fatal, match="invalid_auth"):
        SlackBot(token="xoxb-wrong", channel="#alerts", api_url=server.url).send(a_notification())


def test_blocks_that_are_refused_leave_the_line_of_text(server, bot, webhook):
    for receiver in (bot, webhook):
        server.script.append(Trouble(status=200 if receiver is bot else 400, error="invalid_blocks"))
        receiver.send(a_notification())
    assert [("blocks" in payload, "negative-rate" in payload["text"]) for _, payload in server.requests] == [
        (False, True),
        (False, True),
    ]


@pytest.mark.parametrize("trouble", [BROKEN, HANG_UP, RATE_LIMITED, Trouble(status=404, error="channel_not_found")])
def test_no_secret_is_told(server, bot, webhook, trouble, caplog):
    caplog.set_level(logging.DEBUG)
    # a token that HTTP does not let through: the error of the standard library quotes it
    garbled = SlackBot(token=f"{TOKEN}\nx", channel="#alerts", api_url=server.url)
    for receiver in (bot, webhook, garbled):
        server.script[:] = [trouble]
        with pytest.raises((Retriable, Fatal)) as caught:
            receiver.send(a_notification())
        logging.getLogger("loop").error("as the loop would log it", exc_info=caught.value)
        told = f"{caught.value} {caught.value!r} {vars(caught.value)} {receiver!r} {caplog.text}"
        assert not any(secret in told for secret in (TOKEN[5:], HOOK_PATH, "TopSecret"))


@pytest.mark.usefixtures("running")  # keeps a proxy out of the way
def test_an_unreachable_server_is_retriable_and_its_url_kept_out():
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/services/TopSecretHookPath"
        with pytest.raises(Retriable, match="out of reach: Connection refused"):
            SlackWebhook(url=url).send(a_notification())


def test_what_is_no_url_is_a_wrong_setting():
    with pytest.raises(WrongSettings) as caught:
        SlackWebhook(url="file:///etc/TopSecret")
    assert "TopSecret" not in str(caught.value)


def test_settings_choose_the_receivers(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # away from any monitor.toml
    for name in [name for name in os.environ if name.startswith("MONITOR_")]:
        monkeypatch.delenv(name)
    slack = {"bot_token": TOKEN, "channel": CHANNEL, "webhook_url": "https://hooks.example/x"}
    assert set(configured(Settings())) == {"console"}
    assert isinstance(configured(Settings(slack=slack))["slack"], SlackBot)
    assert isinstance(configured(Settings(slack={"webhook_url": slack["webhook_url"]}))["slack"], SlackWebhook)
    with pytest.raises(WrongSettings, match="MONITOR_SLACK__CHANNEL"):
        configured(Settings(slack={"bot_token": TOKEN}))


# --- the console ---


def test_the_console_writes_to_a_stream_in_ascii():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(stream).send(a_notification(examples=(an_example(question="退款要多久？"),)))
    assert b"Question: ?" in raw.getvalue()


def test_the_console_needs_no_stream(capsys):
    Console().send(a_notification())
    assert capsys.readouterr().err.startswith("[critical] Firing: negative-rate, support-bot\n")
