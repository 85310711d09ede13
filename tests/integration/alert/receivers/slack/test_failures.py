"""Slack refuses or is out of reach: what is retriable, and what the error says."""

from __future__ import annotations

import logging
import socket

import pytest

from monitor.alert.receivers.slack.webhook import SlackWebhook
from monitor.core.errors import Fatal, Retriable
from tests.factories.alert.notifications import a_course, a_notification
from tests.servers.slack import (
    BROKEN,
    CHANNEL,
    HANG_UP,
    HOOK_PATH,
    RATE_LIMITED,
    SENT_BUT_LOST,
    TOKEN,
    Trouble,
)
from tests.servers.slack.bench import PICTURE
from tests.servers.webhook import http_server


def test_checking_the_bot_tries_its_token(bot, new_bot):
    assert bot.check() == f"bot monitor of Quillmere, posting to channel {CHANNEL}"
    with pytest.raises(Fatal, match="invalid_auth"):
        new_bot(token="xoxb-wrong").check()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_no_token_to_another_server(server, bot, webhook, status):
    with http_server() as elsewhere:
        for receiver in (bot, webhook):
            server.script.append(Trouble(status=status, headers={"Location": f"{elsewhere.url}/api"}))
            with pytest.raises(Fatal, match="redirects are not followed; set MONITOR_SLACK__API_URL"):
                receiver.send(a_notification())
    assert elsewhere.requests == []


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

    monkeypatch.setattr("urllib.request.OpenerDirector.open", late)
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


def test_blocks_that_are_refused_leave_the_line_of_text(server, bot, webhook):
    for receiver in (bot, webhook):
        server.script.append(Trouble(status=200 if receiver is bot else 400, error="invalid_blocks"))
        receiver.send(a_notification())
    assert [("blocks" in payload, "negative-rate" in payload["text"]) for _, payload in server.requests] == [
        (False, True),
        (False, True),
    ]


@pytest.mark.parametrize("trouble", [BROKEN, HANG_UP, RATE_LIMITED, Trouble(status=404, error="channel_not_found")])
def test_no_secret_is_shown(server, new_bot, webhook, trouble, caplog):
    caplog.set_level(logging.DEBUG)
    # a token that HTTP does not let through: the error of the standard library quotes it
    garbled = new_bot(token=f"{TOKEN}\nx")
    for receiver in (new_bot(draw=lambda _: PICTURE), webhook, garbled):
        server.script[:] = [trouble]
        with pytest.raises((Retriable, Fatal)) as caught:
            receiver.send(a_notification(course=a_course()))
        logging.getLogger("loop").error("as the loop would log it", exc_info=caught.value)
        shown = f"{caught.value} {caught.value!r} {vars(caught.value)} {receiver!r} {caplog.text}"
        assert not any(secret in shown for secret in (TOKEN[5:], HOOK_PATH, "TopSecret"))


@pytest.mark.usefixtures("running")  # keeps a proxy out of the way
def test_an_unreachable_server_is_retriable_and_its_url_kept_out():
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/services/TopSecretHookPath"
        with pytest.raises(Retriable, match="out of reach: Connection refused"):
            SlackWebhook(url=url).send(a_notification())
