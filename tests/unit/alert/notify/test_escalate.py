"""Alerts that nobody acknowledges go on to further receivers, a step at a time; muted ones go to nobody."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.alert.mute import MuteTimes, TimeInterval
from monitor.alert.notification import Notification
from monitor.alert.rule import Rule, Step
from monitor.alert.state import Alert, State
from monitor.alert.wording import escalated_words, news_line
from tests.factories.alert.alerts import a_rule, a_silence, an_alert
from tests.factories.alert.notifications import a_notification, at
from tests.rig.alert.dispatching import Dispatching

MINUTE = timedelta(minutes=1)
STEPS = (Step(after=15 * MINUTE, receivers=("pager",)), Step(after=45 * MINUTE, receivers=("mail", "teams")))
RULE = a_rule(receivers=("slack",), escalation=STEPS)
A = an_alert(receivers=("slack",))
NOON_TO_ONE = TimeInterval(times=((12 * 60, 13 * 60),))


class Escalating(Dispatching):
    """Says of each round who was told what, and after how many minutes without acknowledgement."""

    def __init__(self, rule: Rule = RULE) -> None:
        super().__init__(rules=[rule])

    def told(self, minute: float, *alerts: Alert, **options: object) -> list[tuple[str, str, float | None]]:
        before = len(self.flushes)
        self.round(minute, *alerts, **options)
        return [
            (flush.group.receiver, flush.news, flush.escalated_after and flush.escalated_after / MINUTE)
            for flush in self.flushes[before:]
        ]


@pytest.fixture
def escalating() -> Escalating:
    return Escalating()


def acknowledged(minute: float) -> Alert:
    return replace(A, acknowledged_by="ada", acknowledged_at=at(minute))


def over(minute: float) -> Alert:
    return replace(A, state=State.RESOLVED, resolved_at=at(minute))


def test_each_step_is_notified_once(escalating):
    assert escalating.told(1, A) == [("slack", "firing", None)]
    assert escalating.told(15.9, A) == []
    assert escalating.told(16, A) == [("pager", "firing", 15)]
    assert escalating.flushes[-1].pages
    assert escalating.told(16.25, A) == []
    assert escalating.told(45.9, A) == []
    assert escalating.told(46, A) == [("mail", "firing", 45), ("teams", "firing", 45)]
    assert [escalating.told(minute, A) for minute in (46.25, 60, 200)] == [[], [], []]


def test_a_step_that_is_reached_is_not_weighed_again(escalating, monkeypatch):
    for minute in (1, 16):
        escalating.told(minute, A)
    monkeypatch.setattr(MuteTimes, "quiet_within", None)
    assert escalating.told(40, A) == []


def test_an_acknowledgement_stops_it_and_is_told_to_all_who_know(escalating):
    for minute in (1, 16):
        escalating.told(minute, A)
    assert escalating.told(20, acknowledged(20)) == [("slack", "acknowledged", None), ("pager", "acknowledged", None)]
    assert [escalating.told(minute, acknowledged(20)) for minute in (46, 90)] == [[], []]
    ended = replace(acknowledged(20), state=State.RESOLVED, resolved_at=at(100))
    assert escalating.told(100, ended) == [("slack", "resolved", None), ("pager", "resolved", None)]
    assert escalating.groups == {}


def test_an_end_stops_it_and_is_told_to_all_who_know(escalating):
    for minute in (1, 16):
        escalating.told(minute, A)
    assert escalating.told(30, over(30)) == [("slack", "resolved", None), ("pager", "resolved", None)]
    assert escalating.told(60, over(30)) == []


def test_after_a_silence_the_time_begins_anew(escalating):
    silence = a_silence(start=10, end=30)
    escalating.told(1, A)
    assert escalating.told(10, A, silences=[silence]) == [("slack", "silenced", None)]
    assert escalating.told(20, A, silences=[silence]) == []
    assert escalating.told(30, A) == [("slack", "repeated", None)]
    assert escalating.told(44.9, A) == []
    assert escalating.told(45, A) == [("pager", "firing", 15)]


def test_an_alert_silenced_from_the_start_is_not_escalated(escalating):
    silence = a_silence(start=0, end=100)
    assert [escalating.told(minute, A, silences=[silence]) for minute in (1, 30, 99)] == [[], [], []]
    assert escalating.told(100, A) == [("slack", "firing", None)]
    assert escalating.told(115, A) == [("pager", "firing", 15)]


def test_a_muted_alert_goes_to_nobody_and_is_notified_when_the_mute_ends_if_it_still_fires():
    """The alert fires at noon; the mute lasts until one."""
    muted = Escalating(replace(RULE, mute=MuteTimes(muted={"lunch": (NOON_TO_ONE,)})))
    assert [muted.told(minute, A) for minute in (1, 30, 59)] == [[], [], []]
    assert muted.told(60, A) == [("slack", "firing", None)]
    assert muted.told(75, A) == [("pager", "firing", 15)]
    ended = Escalating(replace(RULE, mute=MuteTimes(muted={"lunch": (NOON_TO_ONE,)})))
    assert [ended.told(minute, alert) for minute, alert in ((1, A), (60, over(59)))] == [[], []]


def test_outside_its_active_times_an_alert_goes_to_nobody():
    rule = replace(RULE, mute=MuteTimes(active={"lunch": (NOON_TO_ONE,)}))
    assert Escalating(rule).told(1, A) == [("slack", "firing", None)]
    assert Escalating(rule).told(60, A) == []


def test_a_mute_holds_an_escalation_back_and_the_end_is_told_all_the_same():
    """From ten past twelve to one; what was notified before the mute is repeated as ever."""
    mute = MuteTimes(muted={"lunch": (TimeInterval(times=((12 * 60 + 10, 13 * 60),)),)})
    muted = Escalating(replace(RULE, mute=mute))
    assert muted.told(1, A) == [("slack", "firing", None)]
    assert [muted.told(minute, A) for minute in (16, 59, 60, 74.9)] == [[], [], [], []]
    assert muted.told(75, A) == [("pager", "firing", 15)]
    ended = Escalating(replace(RULE, mute=mute))
    ended.told(1, A)
    assert ended.told(20, over(20)) == [("slack", "resolved", None)]


def test_a_clock_that_jumps_ahead_skips_no_step_and_one_set_back_makes_it_early(escalating):
    escalating.told(1, A)
    assert escalating.told(600, A) == [("slack", "repeated", None), ("pager", "firing", 15)]
    assert escalating.told(601, A) == []
    assert escalating.told(630, A) == [("mail", "firing", 45), ("teams", "firing", 45)]
    back = Escalating()
    back.told(1, A)
    assert ("pager", "firing", 15) in back.told(-60, A)


def test_after_hours_without_a_process_the_first_receivers_come_first(escalating):
    assert escalating.told(300, A) == [("slack", "firing", None)]
    assert escalating.told(315, A) == [("pager", "firing", 15)]


def test_a_new_step_and_a_removed_one_take_effect_on_what_fires(escalating):
    plain = [replace(RULE, escalation=())]
    escalating.told(1, A, rules=plain)
    assert escalating.told(30, A, rules=plain) == []
    assert escalating.told(31, A) == [("pager", "firing", 15)]
    assert escalating.told(90, A, rules=plain) == []  # the pager still hears of the end
    assert escalating.told(91, over(91), rules=plain) == [("slack", "resolved", None), ("pager", "resolved", None)]


def test_who_knows_another_alert_of_the_group_is_called_again(escalating):
    """The pager is the first receiver of another rule's alert with the same labels, and was told of that one."""
    other = an_alert(fingerprint="b" * 32, episode="e2", rule="other", receivers=("pager",))
    assert escalating.told(1, A, other) == [("slack", "firing", None), ("pager", "firing", None)]
    assert escalating.told(16, A, other) == [("pager", "changed", 15)]
    assert escalating.flushes[-1].pages


def test_a_new_episode_begins_from_the_start(escalating):
    for minute in (1, 16):
        escalating.told(minute, A)
    escalating.told(20, over(20))
    again = replace(A, episode="e9", fired_at=at(30), active_since=at(29))
    assert escalating.told(31, again) == [("slack", "firing", None)]
    assert escalating.told(45, again) == []
    assert escalating.told(46, again) == [("pager", "firing", 15)]


def test_what_an_earlier_release_has_told_counts_from_when_it_fired(escalating):
    escalating.told(1, A)
    ((key, group),) = escalating.groups.items()
    told = {identity: replace(alert, notified_at=None) for identity, alert in group.said.items()}
    escalating.groups[key] = replace(group, said=told)
    assert escalating.told(15, A) == [("pager", "firing", 15)]


def test_messages_and_histories_say_that_nobody_acknowledged():
    made = a_notification(escalated_after=15 * MINUTE)
    assert news_line(made).endswith("; nobody acknowledged it for 15m")
    assert Notification.from_json(made.to_json()) == made
    assert escalated_words(15 * MINUTE) == "nobody acknowledged it for 15m"
