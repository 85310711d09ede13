"""Slack's receivers against a scripted Slack: one message and one thread for an episode."""

from __future__ import annotations

import pytest

from monitor.core.errors import Retriable
from tests.factories.alert.notifications import a_notification, a_notified_alert, a_resolved_notification, at
from tests.rig.alert.slack_receipts import later, the_end
from tests.servers.slack import (
    CHANNEL,
    HOOK_PATH,
    Trouble,
    buttons,
    shown,
)


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
    assert "Resolved after 18m" in shown(server.thread(root.ts)[1].payload)


def test_a_repetition_is_shown_in_the_channel_again(server, bot):
    receipt = bot.send(a_notification())
    bot.send(later(receipt))
    bot.send(the_end(receipt, number=2))
    assert [m.payload["reply_broadcast"] for m in server.thread(receipt["ts"])] == [True, False]


def test_an_alert_that_joins_is_shown_in_the_channel_if_it_pages(server, bot):
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


def test_a_group_of_alerts_is_one_message(server, bot):
    bot.send(a_notification(alerts=tuple(a_notified_alert(rule=f"rule-{number}") for number in range(120))))
    assert "and 119 more" in shown(server.roots()[0].payload)
