from __future__ import annotations

import pytest

from monitor.alert.receivers.slack.message import (
    ACKNOWLEDGE,
    SILENCES,
    fallback,
    reply_message,
    root_message,
    thread_message,
)
from tests.factories.alert.notifications import (
    a_notification,
    a_notified_alert,
    a_resolved_alert,
    a_resolved_notification,
    an_example,
    at,
)
from tests.servers.slack import PING, buttons, picture, problems, shown, texts, units

URL = "https://monitor.example/alerts/1"


def seen(message):
    return shown({"blocks": message.blocks})


def root(notification, **how):
    return {"blocks": root_message(notification, **how).blocks}


READS = """\
🔴 Firing: negative-rate, support-bot
Too many answers are not carried.
*Started*
2025-11-21 12:02 UTC
*Negative answers*
38.2 %
*Fires above*
30.0 %
*Counted*
84 answers in 5m
app
support-bot
environment
production
*What changed*
• Topic billing rose from 4 % to 61 %.
*Examples*
1. self-generated: the answer departs from its supporting documents
Question: How long does a refund take?
Answer: Refunds arrive within two hours, guaranteed by the Galactic Bank.
<https://monitor.example/i/q-1|Example 1>
Chart of the signal before and while the alert fired: negative answers
<https://wiki.example/rag?a=1&b=2|Runbook>
critical, episode 0123456789a…
Acknowledge
Silence 1 h
Silence 4 h
Open"""


def test_a_message_reads_like_this():
    example = an_example(url="https://monitor.example/i/q-1")
    notification = a_notification(changes=("Topic billing rose from 4 % to 61 %.",), examples=(example,), url=URL)
    assert seen(root_message(notification, buttons=True, chart="F00000001")) == READS


def test_a_group_leads_with_the_worst_and_lists_the_others():
    others = [a_notified_alert(rule=f"rule-{n}", severity="warning") for n in range(8)]
    message = seen(root_message(a_notification(alerts=(a_notified_alert(), *others, a_resolved_alert(rule="gone")))))
    assert message.startswith("🔴 Firing: negative-rate, support-bot and 8 more\n")
    assert "Also:\n🟠 rule-0, support-bot: negative answers: 38.2 %" in message
    assert "rule-5," in message
    assert "rule-6," not in message
    assert "\nand 3 more\n" in message


def test_buttons_are_there_only_where_somebody_listens():
    notification = a_notification(url=URL)
    assert buttons(root(notification)) == {}
    assert "Open in monitor" in shown(root(notification))
    assert "Open in monitor" not in shown(root(notification, buttons=True))
    shown_buttons = buttons(root(notification, buttons=True))
    assert [*shown_buttons] == ["Acknowledge", "Silence 1 h", "Silence 4 h", "Open"]
    assert shown_buttons["Open"]["url"] == URL
    assert {b["value"] for b in shown_buttons.values()} == {notification.episode}
    assert {b["action_id"] for b in shown_buttons.values()} == {ACKNOWLEDGE, *SILENCES, "monitor_open"}


def test_what_is_acknowledged_shows_by_whom_and_cannot_be_acknowledged_again():
    mine = a_notified_alert(acknowledged_by="slack:U1 (ada)")
    some = root(a_notification(alerts=(mine, a_notified_alert())), buttons=True)
    everything = root(a_notification(alerts=(mine, a_resolved_alert())), buttons=True)
    assert "Acknowledge" in buttons(some)
    assert [*buttons(everything)] == ["Silence 1 h", "Silence 4 h"]
    assert "Acknowledged by: slack:U1 (ada)" in shown(everything)


def test_when_all_is_over_it_is_green_and_only_open_is_left():
    assert [*buttons(root(a_resolved_notification(url=URL), buttons=True))] == ["Open"]
    over = root(a_resolved_notification(), buttons=True)
    assert buttons(over) == {}
    assert shown(over).startswith("🟢 Resolved: negative-rate, support-bot\n")


@pytest.mark.parametrize(
    ("alert", "heading"),
    [
        (a_notified_alert(status="no_data", severity="warning"), "🟠 No data: negative-rate"),
        (a_notified_alert(status="error"), "🔴 Cannot be evaluated: negative-rate"),
        (a_notified_alert(severity="info"), "🔵 Firing: negative-rate"),
        (a_notified_alert(silenced_until=at(60)), "🔕 Firing: negative-rate"),
        (a_notified_alert(silenced_until=at(1)), "🔴 Firing: negative-rate"),
    ],
)
def test_the_state_shows_in_the_heading(alert, heading):
    assert shown(root(a_notification(alerts=(alert,)))).startswith(heading)


def test_a_silence_and_the_receiver_that_failed_are_shown():
    notification = a_notification(
        alerts=(a_notified_alert(silenced_until=at(60)),), instead_of="pagerduty: out of reach"
    )
    assert "Silenced until: 2025-11-21 13:00 UTC" in shown(root(notification))
    assert "Sent here instead of to pagerduty: out of reach" in shown(root(notification))


def test_a_chart_is_a_picture_with_a_word_for_those_who_do_not_see_it():
    assert picture(root(a_notification())) is None
    message = root(a_notification(), chart="F00000001")
    assert picture(message) == "F00000001"
    assert "Chart of the signal before and while the alert fired: negative answers" in shown(message)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"news": "changed", "alerts": (a_notified_alert(), a_notified_alert(rule="other", fired_at=at(9)))},
            "🔴 other, support-bot joined",
        ),
        ({"news": "repeated", "at": at(60)}, "🔴 Still firing after 58m"),
        ({"news": "acknowledged", "by": "slack:U1 (ada)"}, "🔴 Acknowledged by slack:U1 (ada)"),
        (
            {"news": "silenced", "by": "ada", "alerts": (a_notified_alert(silenced_until=at(60)),)},
            "🔕 Silenced by ada until 2025-11-21 13:00 UTC",
        ),
    ],
)
def test_the_thread_says_why_the_notification_is_sent(changes, line):
    message = thread_message(a_notification(number=1, **changes))
    assert seen(message).startswith(f"{line}\n🔴 negative-rate, support-bot: negative answers: 38.2 %")
    assert not problems({"blocks": message.blocks})


def test_the_thread_tells_the_end():
    assert seen(thread_message(a_resolved_notification())).startswith("🟢 Resolved after 18m\n🟢 negative-rate")


def test_the_line_for_push_notifications_says_what_matters():
    assert fallback(a_notification()) == (
        "🔴 Firing: negative-rate, support-bot (negative answers: 38.2 %, fires above 30.0 %)"
    )


def largest(**changes):
    much = "&" * 10_000
    values = {
        "rule": much,
        "labels": {"app": much} | {f"{much}{n}": much for n in range(9)},
        "annotations": {"summary": much, "description": much, "runbook": "https://x/" + "&" * 118},
        "note": much,
        "detail": much,
        "signal": f"rate of {much}",
        "acknowledged_by": much,
        "silenced_until": at(60),
        "fired_at": at(-60 * 24 * 300 - 61),
        "resolved_at": at(2),
    }
    example = an_example(
        id=much, question=much, answer=much, verdict=much, reasons=(much,), url="https://x/" + "&" * 50
    )
    known = {
        "alerts": (a_notified_alert(**values), *[a_notified_alert(**values | {"silenced_until": None})] * 30),
        "changes": (much,) * 30,
        "examples": (example,) * 3,
        "url": "https://x/" + "a" * 2_900,
        "by": much,
        "instead_of": much,
    }
    return a_notification(**known | changes)


@pytest.mark.parametrize("news", ["firing", "changed", "repeated", "acknowledged", "silenced", "resolved"])
@pytest.mark.parametrize("listening", [True, False])
def test_the_largest_message_stays_within_our_budget(news, listening):
    notification = largest(news=news)
    for message in (
        root_message(notification, buttons=listening, chart="F00000001"),
        thread_message(notification),
        reply_message("&" * 9_999),
    ):
        assert problems({"blocks": message.blocks}) == []
        assert len(message.blocks) <= 20
        assert sum(map(units, texts(message.blocks))) < 10_000
        assert units(message.text) < 4_000


def test_a_url_that_slack_would_not_take_gets_no_button():
    assert "Open" not in buttons(root(a_notification(url="https://x/" + "a" * 3_000), buttons=True))
    assert "Open" not in buttons(root(a_notification(url="javascript:alert(1)"), buttons=True))


def test_more_labels_than_there_is_room_for_are_counted():
    labels = {"app": "a", "environment": "b", "model": "", "team": "c", "x": "d", "y": "e"}
    assert "more labels\n2 not shown" in shown(root(a_notification(alerts=(a_notified_alert(labels=labels),))))


@pytest.mark.parametrize("hostile", ["<!channel>", "<@U123>", "<https://evil|click>", "`*_~", "\u202eabc", "@here #x"])
def test_the_answer_to_a_click_parses_nothing(hostile):
    message = reply_message(f"acknowledged by slack:U1 ({hostile})")
    for text in (message.text, *texts(message.blocks)):
        assert not PING.search(text)
        assert "<" not in text
        assert "\u202e" not in text
    assert not any(sign in message.text for sign in "`*_~")


def test_the_trace_of_an_example_is_linked_beside_it():
    linked = an_example(url="https://monitor.example/i/q-1", trace_url="https://traces.example/t/4bf9?a=1&b=2")
    text = seen(root_message(a_notification(examples=(linked, an_example(trace_url="javascript:alert(1)")))))
    assert "<https://monitor.example/i/q-1|Example 1>" in text
    assert "<https://traces.example/t/4bf9?a=1&b=2|Trace 1>" in text
    assert "Trace 2" not in text
