from __future__ import annotations

import io

from rich.console import Console

from monitor.cli.demo.slack_preview import SlackPreview
from tests.factories.alert.notifications import a_notification, a_resolved_notification


def printed(*notifications):
    stream = io.StringIO()
    preview = SlackPreview(Console(file=stream, width=100))
    for notification in notifications:
        preview.send(notification)
    return stream.getvalue()


def test_the_first_message_of_an_episode_is_shown_whole_with_its_buttons():
    shown = printed(a_notification(url="https://monitor.example/1"))
    assert "Slack would receive ─" in shown
    assert "🔴 Firing: negative-rate, support-bot" in shown
    assert "Runbook (https://wiki.example/rag?a=1&b=2)" in shown
    assert "[ Acknowledge ] [ Silence 1 h ] [ Silence 4 h ] [ Open ]" in shown


def test_what_follows_is_shown_as_a_line_in_its_thread():
    shown = printed(a_notification(number=1, news="acknowledged", by="ada"), a_resolved_notification(number=2))
    assert shown.count("in the thread of the first message") == 2
    assert "Acknowledged by ada" in shown
    assert "🟢 Resolved after 18m" in shown


def test_no_text_from_outside_formats_the_terminal():
    assert "[red]\\[/]" in printed(a_notification(changes=("[red]\\[/]\x1b[31m",)))
