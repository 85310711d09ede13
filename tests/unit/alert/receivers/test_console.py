from __future__ import annotations

import io
import sys

from monitor.alert.receivers.console import Console
from monitor.alert.receivers.text import render
from tests.factories.alert.notifications import a_notification, a_notified_alert, a_resolved_alert, an_example, at

READS = """\
[critical] Firing: negative-rate, support-bot
  Firing since 2025-11-21 12:02 UTC
  Started: 2025-11-21 12:02 UTC
  Breaching since: 2025-11-21 12:00 UTC
  Negative answers: 38.2 %
  With 95 % confidence: 28.5 % to 48.9 %
  Fires above: 30.0 %
  Counted: 84 answers in 5m
  app: support-bot
  environment: production
  Summary: Too many answers are not carried.
  Runbook: https://wiki.example/rag?a=1&b=2
  What changed
  - More about refunds.
  1. self-generated: the answer departs from its supporting documents
     Question: How long does a refund take?
     Answer:   Refunds arrive within two hours, guaranteed by the Galactic Bank.
     https://monitor.example/q-1
  https://monitor.example/1

"""


def test_a_message_reads_like_this():
    example = an_example(url="https://monitor.example/q-1")
    notification = a_notification(
        examples=(example,), changes=("More about refunds.",), url="https://monitor.example/1"
    )
    assert render(notification) == READS


def test_a_group_is_shown_alert_by_alert():
    alerts = (
        a_notified_alert(),
        a_notified_alert(rule="b", acknowledged_by="ada", silenced_until=at(60)),
        a_resolved_alert(note="gone"),
    )
    lines = render(a_notification(news="changed", alerts=alerts)).splitlines()
    assert "  Alert 1: negative-rate, support-bot, firing" in lines
    assert "  Alert 2: b, support-bot, firing" in lines
    assert "    Acknowledged by: ada" in lines
    assert "    Silenced until: 2025-11-21 13:00 UTC" in lines
    assert "  Alert 3: negative-rate, support-bot, resolved" in lines
    assert "    Note: gone" in lines


def test_alerts_beyond_twenty_are_counted():
    text = render(a_notification(alerts=tuple(a_notified_alert(rule=f"r{n}") for n in range(23))))
    assert "r19" in text
    assert "  3 more alerts not shown\n" in text


def test_the_receiver_that_failed_is_named():
    text = render(a_notification(instead_of="slack: invalid_auth"))
    assert "\n  Sent here instead of to slack: invalid_auth\n" in text


def test_the_console_writes_to_a_stream_in_ascii():
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    Console(stream).send(a_notification(examples=(an_example(question="退款要多久？"),)))
    assert b"Question: ?" in raw.getvalue()


def test_a_log_gets_nothing_that_quotes_an_answer(capsys, monkeypatch):
    notification = a_notification(examples=(an_example(question="Who is Jane?"),), changes=("tag user jane: 80 %",))
    Console().send(notification)
    logged = capsys.readouterr().err
    assert "Firing: negative-rate" in logged
    assert "jane" not in logged.lower()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    Console().send(notification)
    shown = capsys.readouterr().err
    assert ("Who is Jane?" in shown, "tag user jane" in shown) == (True, True)


def test_the_console_needs_no_stream(capsys):
    Console().send(a_notification())
    assert capsys.readouterr().err.startswith("[critical] Firing: negative-rate, support-bot\n")
