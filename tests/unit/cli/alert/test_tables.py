"""What the alert commands print, down to narrow terminals."""

from __future__ import annotations

import io
import re
from dataclasses import asdict, replace
from datetime import timedelta

import pytest
from rich.console import Console

from monitor.alert.evaluation.backtest import Episode
from monitor.alert.methods.shift import Shift
from monitor.alert.mute import MuteTimes, Muting, TimeInterval
from monitor.alert.rule import Step
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.state import State
from monitor.alert.window import Span
from monitor.app.backtest import Rehearsed, Simulated
from monitor.cli.alert.addressed import addressed_json, list_table
from monitor.cli.alert.tables import (
    alert_lines,
    alerts_table,
    episodes_table,
    history_table,
    rehearsed_table,
    rules_table,
    silences_table,
    simulated_table,
    troubles,
)
from tests.factories.alert.alerts import a_method, a_rule, an_alert, at

HOSTILE = "\x1b[2Jshop\u202e [red]:bug:\x9b"
DAY = Span(start=at(0), end=at(24 * 60))
LAG = a_rule(name="reading-behind", signal=Signal(kind=SignalKind.LAG), method=a_method())


def shown(table, width=80):
    console = Console(file=io.StringIO(), width=width, color_system=None, emoji=False)
    console.print(table)
    return console.file.getvalue()


def a_row(**over):
    return {**asdict(an_alert()), "acknowledged_by": None, "silenced_until": None, "muted_by": None, **over}


def an_event(**over):
    known = {
        "at": at(1),
        "fingerprint": "f" * 32,
        "from_state": "inactive",
        "to_state": "firing",
        "samples": 1234,
        "note": None,
    }
    return {**known, **over}


def a_notification(**over):
    known = {
        "made_at": at(2),
        "episode": "e" * 32,
        "receiver": "slack",
        "news": "firing",
        "delivered_at": None,
        "given_up": False,
        "attempts": 0,
        "last_error": None,
        "escalated_after": None,
    }
    return {**known, **over}


def a_silence_row(**over):
    known = {
        "id": "0123456789ab",
        "matchers": ['app="shop"', 'topic=~"refund.*"'],
        "starts_at": at(0),
        "ends_at": at(60),
        "created_by": "ada",
        "comment": "known",
    }
    return {**known, **over}


@pytest.mark.parametrize("width", [60, 80, 200])
def test_nothing_is_cut_and_nothing_is_wider_than_the_terminal(width):
    long = "a-rule-whose-name-is-rather-long-since-it-says-all"
    rule = a_rule(name=long, receivers=("slack", "pagerduty", "alertmanager"))
    episode = Episode(labels={"app": "shop" * 10}, fired_at=at(0), resolved_at=None, worst=0.5)
    tables = [
        alerts_table([a_row(rule=long, acknowledged_by="slack:U0123456789 (ada)", value=0.1234, samples=1_234_567)]),
        history_table([an_event(note=long)], [], [a_notification(last_error=long)]),
        silences_table([a_silence_row(comment=long)]),
        rules_table([rule], at(0)),
        rehearsed_table([Rehearsed(rule=rule, episodes=(episode,), answers=12_345, since=at(600))], DAY),
        episodes_table([Rehearsed(rule=rule, episodes=(episode,))]),
        simulated_table([Simulated(rule=rule, weeks=2, false_pages=1, delays=(timedelta(hours=3), None))]),
    ]
    for table in tables:
        text = shown(table, width)
        assert "…" not in text
        assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [50, 80])
def test_an_id_stands_on_one_line_so_that_it_can_be_copied(width):
    row = a_row(rule="negative-rate", labels={"app": "support-bot", "environment": "production", "model": ""})
    text = shown(alerts_table([row]), width)
    assert row["fingerprint"][:12] in text
    assert "model" not in text
    assert "0123456789ab" in shown(silences_table([a_silence_row()]), width)


def test_foreign_text_steers_no_terminal():
    tables = [
        alerts_table([a_row(labels={"app": HOSTILE}, acknowledged_by=HOSTILE)]),
        history_table([an_event(note=HOSTILE)], [], [a_notification(last_error=HOSTILE)]),
        silences_table([a_silence_row(matchers=[HOSTILE], created_by=HOSTILE, comment=HOSTILE)]),
        episodes_table(
            [
                Rehearsed(
                    rule=a_rule(),
                    episodes=(Episode(labels={"app": HOSTILE}, fired_at=at(0), resolved_at=None, worst=0.5),),
                )
            ]
        ),
    ]
    for table in tables:
        text = shown(table, 200)
        assert "[red]:bug:" in text
        assert not any(character in text for character in "\x1b\x9b\u202e")


def test_an_alert_in_full_says_since_when_how_bad_and_who_is_at_it():
    alert = replace(
        an_alert(state=State.FIRING),
        fired_at=at(3),
        value=0.382,
        samples=84,
        bound=0.3,
        acknowledged_by="ada",
        acknowledged_at=at(5),
        annotations={"summary": "The bot refuses.", "runbook": "https://wiki.example/rag"},
    )
    heading, *lines = alert_lines(alert)
    assert heading == f"negative-rate, shop: firing since 2025-11-21 12:03 UTC, critical, episode {alert.episode[:12]}"
    assert lines == [
        "  Started: 2025-11-21 12:03 UTC",
        "  Breaching since: 2025-11-21 11:58 UTC",
        "  Negative answers: 38.2 %",
        "  With 95 % confidence: 28.0 % to 54.0 %",
        "  Fires above: 30.0 %",
        "  Counted: 84 answers in 5m",
        "  app: shop",
        "  Acknowledged by: ada",
        "  Summary: The bot refuses.",
        "  Runbook: https://wiki.example/rag",
    ]


def test_what_became_of_an_alert_is_told_in_its_order():
    told = [
        a_notification(delivered_at=at(3), attempts=2),
        a_notification(made_at=at(4), news="changed", given_up=True, last_error="gone"),
        a_notification(made_at=at(5), news="resolved"),
        a_notification(made_at=at(6), receiver="pager", escalated_after=timedelta(minutes=15)),
    ]
    action = {"at": at(3), "fingerprint": "f" * 32, "action": "acknowledge", "by": "ada", "comment": "looking"}
    lines = [
        " ".join(line.split()[3:]) for line in shown(history_table([an_event()], [action], told), 200).splitlines()[1:]
    ]
    assert lines == [
        "inactive → firing 1,234 counted",
        "to slack: firing delivered after 2 failures",
        "acknowledge by ada looking",
        "to slack: changed lost: gone",
        "to slack: resolved waiting",
        "escalated to pager: nobody acknowledged it for 15m waiting",
    ]


def test_what_keeps_people_from_being_told_is_said():
    rule = {"rule": "negative-rate", "stale_since": None, "error": None, "error_since": None, "evaluated_at": at(2)}
    unsent = {"receiver": "slack", "waiting": 2, "lost": 1, "since": at(0), "last_error": "out of reach"}
    found = troubles(
        [rule, {**rule, "rule": "lagging", "stale_since": at(1)}, {**rule, "error": "KeyError", "error_since": at(2)}],
        [unsent],
        [a_silence_row()],
        now=at(3),
    )
    assert list(found) == [
        "not evaluated since 2025-11-21 12:01 UTC, because reading is behind (see `monitor ledger`): lagging",
        "a source that nobody reads any more holds them back until `monitor alerts forget SOURCE`",
        "cannot be evaluated since 2025-11-21 12:02 UTC: negative-rate: KeyError",
        "slack: undelivered notifications (2 waiting, 1 lost) since 2025-11-21 12:00 UTC: out of reach",
        "1 silence in force: see `monitor alerts silences`",
    ]
    assert list(troubles([rule], [], [], now=at(3))) == []


def test_a_rule_that_waits_for_its_baseline_is_not_called_normal():
    rule = {"rule": "negative-rate", "stale_since": None, "error": None, "held": 2, "evaluated_at": at(2)}
    assert list(troubles([rule, {**rule, "rule": "learnt", "held": 0}], [], [], now=at(3))) == [
        "negative-rate: not judged until the usual level is known (a day and 200 answers), for 2 combinations of labels"
    ]


def test_a_rule_that_is_no_longer_evaluated_is_not_told_as_one_in_force():
    old = {"rule": "negative-rate", "stale_since": None, "error": None, "held": 2, "evaluated_at": at(2)}
    new = {**old, "rule": "mine", "held": 0, "evaluated_at": at(12)}
    assert list(troubles([old, new], [], [], now=at(12))) == []


def test_each_rule_says_what_its_pages_rest_on():
    ranks = a_rule(name="changed", signal=Signal(kind=SignalKind.RANKS, name="score"), method=Shift())
    text = shown(rules_table([a_rule(), ranks], at(0)), 200)
    assert "a fixed line" in text
    assert "shift: answers that look as made up as the worst tenth used to: clearly more than one in ten" in text
    assert "ranks among the source's own earlier answers: no target to know" in text


def test_a_list_of_the_past_says_so():
    rule = {"rule": "negative-rate", "stale_since": None, "error": None, "error_since": None, "evaluated_at": at(2)}
    assert list(troubles([rule], [], [], now=at(8), problem="the rules file is wrong: …")) == [
        "the rules file is wrong: …",
        "no process has evaluated the rules since 2025-11-21 12:02 UTC: start `monitor run` or `monitor collect`",
    ]


def test_what_is_silenced_and_how_short_the_history_is_are_told():
    assert "silenced until 13:00" in shown(alerts_table([a_row(silenced_until=at(60))]), 200)
    week = Span(start=at(0), end=at(7 * 24 * 60))
    episode = Episode(labels={}, fired_at=week.end, resolved_at=None, worst=None)
    tried = [Rehearsed(rule=a_rule(), episodes=(episode,), answers=5, since=at(6 * 24 * 60))]
    text = shown(rehearsed_table(tried, week), 200)
    assert "5 counted, all in the last 1d" in text
    assert "7.00" in text  # one in a day
    assert "no number per week" not in text
    minutes = [replace(tried[0], since=at(7 * 24 * 60 - 12))]
    text = shown(rehearsed_table(minutes, week), 200)
    assert "5 counted, all in the last 12m" in text
    assert "Less than a day of answers gives no number per week." in text
    assert not re.search(r"\d\.\d\d", text), "nothing is extrapolated from minutes"


def test_a_rule_that_cannot_be_tried_says_why():
    rehearsed = [
        Rehearsed(rule=LAG, why_not="no history is kept"),
        Rehearsed(rule=a_rule(), answers=1_200, since=at(0)),
    ]
    text = shown(rehearsed_table(rehearsed, DAY))
    assert "no history is kept" in text
    assert "1,200 counted" in text
    simulated = [Simulated(rule=LAG, weeks=1, why_not="lag is not simulated"), Simulated(rule=a_rule(), weeks=1)]
    assert "lag is not simulated" in shown(simulated_table(simulated))
    assert "over" not in shown(rules_table([LAG], at(0)))  # a state of now has no window


def test_what_is_muted_says_until_when():
    muted = a_row(muted_by="nights", muted_until=at(60))
    assert "muted until 13:00" in shown(alerts_table([muted]), 200)
    found = list(alert_lines(an_alert(), Muting(why="outside office-hours", until=at(60))))
    assert "  Muted outside office-hours until 2025-11-21 13:00 UTC" in found
    assert "  Muted by nights" in alert_lines(an_alert(), Muting(why="nights", until=None))


def test_each_rule_says_whose_it_is_and_who_is_notified_when():
    mute = MuteTimes(muted={"nights": (TimeInterval(times=((0, 780),)),)})
    steps = (Step(after=timedelta(minutes=15), receivers=("pagerduty", "email")),)
    rule = a_rule(
        receivers=("slack",), escalation=steps, owner="team-search", runbook="https://wiki.example", mute=mute
    )
    for table in (list_table([rule], at(0)), rules_table([rule], at(0))):
        text = shown(table, 200)
        assert "after 15m unacknowledged: pagerduty, email" in text
        assert "not during nights" in text
        assert "now muted by nights until 2025-11-21 13:00 UTC" in text
    assert {"team-search", "https://wiki.example"} <= set(shown(list_table([rule], at(0)), 200).split())
    known = addressed_json(rule, at(0))
    assert known["escalation"] == [{"after_seconds": 900, "receivers": ["pagerduty", "email"]}]
    assert (known["muted_by"], known["muted_until"]) == ("nights", at(60))
