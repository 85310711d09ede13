"""Slack's receivers against a scripted Slack over real HTTP: messages, threads, charts, what is in doubt."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from monitor.alert.receivers.slack.bot import SlackBot, from_settings
from monitor.alert.receivers.slack.webhook import SlackWebhook
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.core.settings.load import Settings
from tests.factories.notifications import a_course, a_notification, a_resolved_notification, a_told, at
from tests.servers.slack import (
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
    SlackServer,
    Trouble,
    buttons,
    picture,
    shown,
    slack_server,
)
from tests.servers.slack.bench import PICTURE, Stepping


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


def later(receipt, **changes):
    return a_notification(number=1, news="repeated", pages=True, at=at(60), previous=receipt, **changes)


def the_end(receipt, **changes):
    return a_resolved_notification(previous=receipt, **changes)


# --- one message, one thread ---


def test_the_root_is_updated_and_the_thread_tells_the_history(server, bot):
    receipt = bot.send(a_notification())
    assert receipt["channel"] == CHANNEL
    acknowledged = a_notification(number=1, news="acknowledged", by="slack:U1 (ada)", previous=receipt)
    assert bot.send(acknowledged) == receipt
    assert bot.send(the_end(receipt, number=2)) == receipt
    (root,) = server.roots()
    assert root.edits == 2
    assert "Resolved: negative-rate" in shown(root.payload)
    assert ["Acknowledged by slack:U1" in shown(m.payload) for m in server.thread(root.ts)] == [True, False]
    assert "Resolved after 20m" in shown(server.thread(root.ts)[1].payload)


def test_a_repetition_is_told_to_the_channel_again(server, bot):
    receipt = bot.send(a_notification())
    bot.send(later(receipt))
    bot.send(the_end(receipt, number=2))
    assert [m.payload["reply_broadcast"] for m in server.thread(receipt["ts"])] == [True, False]


def test_what_joins_is_told_to_the_channel_where_it_calls_somebody(server, bot):
    receipt = bot.send(a_notification(pages=True))
    for number, pages in ((1, True), (2, False)):
        bot.send(a_notification(number=number, news="changed", pages=pages, at=at(5), previous=receipt))
    assert [m.payload["reply_broadcast"] for m in server.thread(receipt["ts"])] == [True, False]


def test_a_root_that_was_deleted_is_posted_anew(server, bot):
    receipt = bot.send(a_notification())
    server.delete(receipt["ts"])
    again = bot.send(the_end(receipt))
    assert again != receipt
    assert [root.ts for root in server.roots()] == [again["ts"]]
    assert server.thread(again["ts"]) == []


def test_a_root_that_may_not_be_edited_still_gets_its_thread(server, bot):
    receipt = bot.send(a_notification())
    server.script.append(Trouble(error="edit_window_closed"))
    bot.send(the_end(receipt))
    assert len(server.thread(receipt["ts"])) == 1


def test_buttons_go_with_the_last_alert(server, new_bot):
    bot = new_bot(buttons=True)
    receipt = bot.send(a_notification())
    assert [*buttons(server.roots()[0].payload)] == ["Acknowledge", "Silence 1 h", "Silence 4 h"]
    bot.send(the_end(receipt))
    assert buttons(server.roots()[0].payload) == {}


def test_a_webhook_tells_the_whole_or_a_line(server, webhook):
    webhook.send(a_notification())
    webhook.send(a_notification(number=1, news="acknowledged", by="ada"))
    webhook.send(a_resolved_notification(number=2))
    whole, line, end = [shown(payload) for path, payload in server.requests if path == HOOK_PATH]
    assert "two hours" in whole
    assert line.startswith("🔴 Acknowledged by ada\n")
    assert "Resolved: negative-rate" in end


def test_nobody_is_pinged_and_nothing_unfurls(server, bot, webhook):
    bot.send(the_end(bot.send(a_notification())))
    webhook.send(a_notification())
    for path, payload in server.requests:
        assert (payload["parse"], payload["link_names"]) == ("none", False)
        if path != "/api/chat.update":
            assert (payload["unfurl_links"], payload["unfurl_media"], payload["mrkdwn"]) == (False, False, False)


def test_messages_keep_to_one_a_second(server, bot, clock):
    server.paced_by = clock
    receipt = bot.send(a_notification())
    for number in range(1, 4):
        bot.send(later(receipt, group=str(number)))
    assert clock.slept == [1.0, 1.0, 1.0]
    server.paced_by = lambda: 0.0  # somebody else's app posts as well
    with pytest.raises(Retriable) as caught:
        bot.send(later(receipt))
    assert caught.value.retry_after == 1


# --- the chart ---


@pytest.fixture
def drawn() -> list:
    return []


@pytest.fixture
def drawing_bot(new_bot, drawn) -> SlackBot:
    def draw(course):
        drawn.append(course)
        return PICTURE

    return new_bot(draw=draw)


def test_a_chart_comes_after_the_text_and_is_drawn_anew_at_the_end(server, drawing_bot, drawn):
    receipt = drawing_bot.send(a_notification(course=a_course()))
    assert next(path for path, _ in server.requests) == "/api/chat.postMessage"
    assert server.files == {receipt["chart"]: PICTURE}
    assert picture(server.roots()[0].payload) == receipt["chart"]
    same = drawing_bot.send(
        a_notification(number=1, news="acknowledged", by="ada", course=a_course(), previous=receipt)
    )
    assert (same, len(drawn)) == (receipt, 1)
    assert picture(server.roots()[0].payload) == receipt["chart"]
    over = drawing_bot.send(the_end(receipt, course=a_course()))
    assert over["chart"] != receipt["chart"]
    assert picture(server.roots()[0].payload) == over["chart"]
    assert "Resolved" in shown(server.roots()[0].payload)


def test_a_file_that_slack_looks_at_still_is_waited_for_a_little(server, drawing_bot, clock):
    server.unready = 2
    receipt = drawing_bot.send(a_notification(course=a_course()))
    assert picture(server.roots()[0].payload) == receipt["chart"]
    assert clock.slept == [0.5, 1.0]


def test_a_file_that_never_gets_ready_leaves_the_message_as_it_was(server, drawing_bot, caplog):
    server.unready = 99
    receipt = drawing_bot.send(a_notification(course=a_course()))
    assert "chart" not in receipt
    assert "Firing" in shown(server.roots()[0].payload)
    assert picture(server.roots()[0].payload) is None
    assert "without its chart" in caplog.text


def test_without_the_scope_it_goes_on_without_and_says_so_once(server, drawing_bot, caplog):
    server.scopes[TOKEN].discard("files:write")
    for number in range(2):
        drawing_bot.send(a_notification(episode=f"{number}" * 32, course=a_course()))
    assert len(server.roots()) == 2
    assert caplog.text.count("files:write") == 1
    assert len(server.called("files.getUploadURLExternal")) == 1


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal", "chat.update"])
@pytest.mark.parametrize("trouble", [BROKEN, HANG_UP, RATE_LIMITED])
def test_trouble_with_a_chart_is_no_trouble_of_the_page(server, drawing_bot, method, trouble):
    server.script_of[method] = [trouble]
    receipt = drawing_bot.send(a_notification(course=a_course()))
    assert receipt == {"channel": CHANNEL, "ts": server.roots()[0].ts}
    assert "chart" in drawing_bot.send(a_notification(episode="f" * 32, course=a_course()))


def test_a_drawing_that_fails_is_left_out(server, new_bot):
    def draw(_):
        raise ZeroDivisionError

    assert "chart" not in new_bot(draw=draw).send(a_notification(course=a_course()))
    assert len(server.roots()) == 1


def test_a_chart_that_was_deleted_is_left_out(server, drawing_bot):
    receipt = drawing_bot.send(a_notification(course=a_course()))
    server.complete.clear()
    drawing_bot.send(a_notification(number=1, news="acknowledged", by="ada", previous=receipt))
    (root,) = server.roots()
    assert "Also" not in shown(root.payload)
    assert picture(root.payload) is None
    assert root.payload["blocks"]


# --- what is in doubt ---


def test_a_root_whose_receipt_was_lost_is_found_again(server, bot):
    server.script.append(SENT_BUT_LOST)
    with pytest.raises(Retriable):
        bot.send(a_notification())
    receipt = bot.send(a_notification(in_doubt=True))
    assert [root.ts for root in server.roots()] == [receipt["ts"]]
    assert server.thread(receipt["ts"]) == []
    bot.send(the_end(receipt))
    assert len(server.roots()) == 1


def test_a_line_whose_receipt_was_lost_is_not_told_twice(server, bot):
    receipt = bot.send(a_notification())
    server.script_of["chat.postMessage"] = [SENT_BUT_LOST]
    with pytest.raises(Retriable):
        bot.send(later(receipt))
    assert bot.send(later(receipt, in_doubt=True)) == receipt
    assert bot.send(the_end(receipt, number=2)) == receipt
    assert len(server.thread(receipt["ts"])) == 2


def test_nothing_arrived_so_it_is_posted(server, bot):
    server.say("good morning")
    receipt = bot.send(a_notification(in_doubt=True))
    assert bot.send(later(receipt, in_doubt=True)) == receipt
    assert len(server.thread(receipt["ts"])) == 1


def test_a_root_of_an_earlier_notification_is_found_and_gets_the_news(server, bot):
    bot.send(a_notification())
    receipt = bot.send(later(None))
    assert [root.ts for root in server.roots()] == [receipt["ts"]]
    assert len(server.thread(receipt["ts"])) == 1


def test_only_a_root_of_our_own_of_this_episode_is_taken(server, bot):
    told = a_notification()
    about = {"event_type": "monitor_episode", "event_payload": {"episode": told.episode, "number": 0}}
    server.say("a forgery", bot_id="B0OTHER", metadata=about)
    server.say("another episode", bot_id=BOT_ID, metadata=about | {"event_payload": {"episode": "x", "number": 0}})
    server.say("not quite", bot_id=BOT_ID, metadata=about | {"event_payload": {"episode": told.episode}})
    first = bot.send(a_notification(episode="e" * 32))
    bot.send(later(first, episode="e" * 32))  # a reply that is shown in the channel is no root
    found = bot.send(replace(told, episode="e" * 32, number=2, news="repeated", in_doubt=True))
    assert found["ts"] == first["ts"]
    receipt = bot.send(replace(told, in_doubt=True))
    assert receipt["ts"] == server.roots()[-1].ts
    assert len(server.roots()) == 5


def test_the_history_is_read_page_by_page(server, bot):
    receipt = bot.send(a_notification())
    for number in range(30):
        server.say(f"chatter {number}")
    server.page = 7
    assert bot.send(a_notification(in_doubt=True))["ts"] == receipt["ts"]
    assert len(server.called("conversations.history")) == 5
    for number in range(30):
        server.say(f"more chatter {number}")
    assert bot.send(a_notification(in_doubt=True))["ts"] != receipt["ts"]  # beyond what is looked at
    assert len(server.called("conversations.history")) == 10
    server.page = 200


def test_where_one_page_a_minute_is_granted_the_second_is_not_waited_for(server, bot):
    bot.send(a_notification())
    for number in range(3):
        server.say(f"chatter {number}")
    server.page = 2
    server.script_of["conversations.history"] = [RATE_LIMITED]
    with pytest.raises(Retriable) as caught:
        bot.send(a_notification(in_doubt=True))
    assert caught.value.retry_after == 30
    server.script_of["conversations.history"] = [Trouble(hang_up=True, lost=True)]
    with pytest.raises(Retriable):
        bot.send(a_notification(in_doubt=True))
    assert len(server.roots()) == 4
    pages = iter([None, RATE_LIMITED])
    answer = server.answer

    def second_page_refused(path, headers, body):
        refused = next(pages) if path.endswith("conversations.history") else None
        return refused or answer(path, headers, body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "answer", second_page_refused)
        bot.send(a_notification(in_doubt=True))
    assert len(server.roots()) == 5
    server.page = 200


def test_without_the_scope_it_posts_and_says_once_what_may_come_twice(server, bot, caplog):
    server.scopes[TOKEN].discard("channels:history")
    for number in range(2):
        receipt = bot.send(a_notification(in_doubt=True, episode=f"{number}" * 32))
        bot.send(later(receipt, in_doubt=True, episode=f"{number}" * 32))
    assert len(server.roots()) == 2
    assert [len(server.thread(root.ts)) for root in server.roots()] == [1, 1]
    assert caplog.text.count("channels:history") == 1


def test_a_channel_by_name_is_posted_to_but_cannot_be_looked_into(new_bot, caplog):
    bot = new_bot(channel=CHANNEL_NAME)
    assert bot.send(a_notification(in_doubt=True))["channel"] == CHANNEL
    assert "the channel's id" in caplog.text


# --- refusals and outages ---


def test_checking_the_bot_tries_its_token(bot, new_bot):
    assert bot.check() == f"bot monitor of Quillmere, for channel {CHANNEL}"
    with pytest.raises(Fatal, match="invalid_auth"):
        new_bot(token="xoxb-wrong").check()


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


def test_blocks_that_are_refused_leave_the_line_of_text(server, bot, webhook):
    for receiver in (bot, webhook):
        server.script.append(Trouble(status=200 if receiver is bot else 400, error="invalid_blocks"))
        receiver.send(a_notification())
    assert [("blocks" in payload, "negative-rate" in payload["text"]) for _, payload in server.requests] == [
        (False, True),
        (False, True),
    ]


@pytest.mark.parametrize("trouble", [BROKEN, HANG_UP, RATE_LIMITED, Trouble(status=404, error="channel_not_found")])
def test_no_secret_is_told(server, new_bot, webhook, trouble, caplog):
    caplog.set_level(logging.DEBUG)
    # a token that HTTP does not let through: the error of the standard library quotes it
    garbled = new_bot(token=f"{TOKEN}\nx")
    for receiver in (new_bot(draw=lambda _: PICTURE), webhook, garbled):
        server.script[:] = [trouble]
        with pytest.raises((Retriable, Fatal)) as caught:
            receiver.send(a_notification(course=a_course()))
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


# --- settings ---


def test_what_is_no_url_is_a_wrong_setting():
    with pytest.raises(WrongSettings) as caught:
        SlackWebhook(url="file:///etc/TopSecret")
    assert "TopSecret" not in str(caught.value)


def test_settings_choose_between_bot_and_webhook(monkeypatch):
    for name in [name for name in os.environ if name.startswith("MONITOR_")]:
        monkeypatch.delenv(name)
    slack = {"bot_token": TOKEN, "channel": CHANNEL, "webhook_url": "https://hooks.example/x"}

    def chosen(**settings):
        return from_settings(Settings(slack=settings), None)

    assert chosen() is None
    assert isinstance(chosen(**slack), SlackBot)
    assert isinstance(chosen(webhook_url=slack["webhook_url"]), SlackWebhook)
    for half in ({"bot_token": TOKEN}, {"channel": CHANNEL}):
        with pytest.raises(WrongSettings, match="MONITOR_SLACK__CHANNEL"):
            chosen(**half)
    with pytest.raises(WrongSettings, match="MONITOR_SLACK__APP_TOKEN"):
        chosen(webhook_url=slack["webhook_url"], app_token=APP_TOKEN)


def test_responders_are_ids_with_commas_between_them(monkeypatch):
    monkeypatch.setenv("MONITOR_SLACK__RESPONDERS", "U0ADA, S0ONCALL")
    assert Settings().slack.responders == ("U0ADA", "S0ONCALL")
    monkeypatch.setenv("MONITOR_SLACK__RESPONDERS", "@ada")
    with pytest.raises(ValueError, match="responders"):
        Settings()


def test_a_group_of_alerts_is_one_message(server, bot):
    bot.send(a_notification(alerts=tuple(a_told(rule=f"rule-{number}") for number in range(120))))
    assert "and 119 more" in shown(server.roots()[0].payload)
