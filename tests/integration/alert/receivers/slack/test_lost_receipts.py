"""Slack messages whose receipt was lost are found again, not posted twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.core.errors import Retriable
from tests.factories.alert.notifications import a_notification
from tests.rig.alert.slack_receipts import later, the_end
from tests.servers.slack import (
    BOT_ID,
    CHANNEL,
    CHANNEL_NAME,
    RATE_LIMITED,
    SENT_BUT_LOST,
    TOKEN,
    Trouble,
)


def test_a_root_whose_receipt_was_lost_is_found_again(server, bot):
    server.script.append(SENT_BUT_LOST)
    with pytest.raises(Retriable):
        bot.send(a_notification())
    receipt = bot.send(a_notification(in_doubt=True))
    assert [root.ts for root in server.roots()] == [receipt["ts"]]
    assert server.thread(receipt["ts"]) == []
    bot.send(the_end(receipt))
    assert len(server.roots()) == 1


def test_a_line_whose_receipt_was_lost_is_not_posted_twice(server, bot):
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
    notification = a_notification()
    about = {"event_type": "monitor_episode", "event_payload": {"episode": notification.episode, "number": 0}}
    server.say("a forgery", bot_id="B0OTHER", metadata=about)
    server.say("another episode", bot_id=BOT_ID, metadata=about | {"event_payload": {"episode": "x", "number": 0}})
    server.say("not quite", bot_id=BOT_ID, metadata=about | {"event_payload": {"episode": notification.episode}})
    first = bot.send(a_notification(episode="e" * 32))
    bot.send(later(first, episode="e" * 32))  # a reply that is shown in the channel is no root
    found = bot.send(replace(notification, episode="e" * 32, number=2, news="repeated", in_doubt=True))
    assert found["ts"] == first["ts"]
    receipt = bot.send(replace(notification, in_doubt=True))
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
