"""What every `Outbox` promises of notifications: in order within a group, each once, and none forgotten."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from monitor.alert.ports import LONGEST_WAIT
from tests.factories.alert.notifications import a_course, a_notified_alert, a_resolved_alert, an_example, at
from tests.factories.alert.outbox import a_group, all_due, due, tell, tell_all


def test_every_field_of_a_notification_comes_back(outbox):
    given = tell(
        outbox,
        a_group(),
        news="firing",
        group_labels={"app": "多すぎる", "topic": ""},
        alerts=(
            a_notified_alert(value=0.123456789012345, samples=2**40, detail="d", below=True),
            a_resolved_alert(note="n"),
        ),
        at=at(2.123),
        by="ada",
        instead_of="pager (down)",
        changes=("q\n\t'\"\\", ""),
        examples=(an_example(url="https://m/1", question="🙂"), an_example(reasons=())),
        course=a_course(),
        url="https://monitor.example/alerts/1",
    )
    (found,) = all_due(outbox, at(60))
    assert found == replace(given, id=found.id)
    assert isinstance(found.id, int)


def test_what_belongs_to_the_row_is_not_taken_from_the_notification(outbox):
    tell(outbox, a_group(), id=99, attempts=7, in_doubt=True, previous={"ts": "made up"})
    (found,) = all_due(outbox, at(60))
    assert (found.attempts, found.in_doubt, found.previous) == (0, False, None)


def test_what_is_due_comes_oldest_first_and_of_one_group_only_the_first(outbox):
    for key in ("g3", "g1", "g2"):
        tell_all(outbox, key=key, episode=f"e{key}")
    expected = [("slack", key, f"e{key}", 0) for key in ("g3", "g1", "g2")]
    assert due(outbox) == expected
    outbox.delivered(all_due(outbox, at(60))[0], None, at(60))
    assert due(outbox) == [("slack", "g3", "eg3", 1), *expected[1:]]


def test_a_new_episode_waits_behind_the_old_one(outbox):
    tell_all(outbox)
    tell_all(outbox, episode="e2")
    seen = []
    while found := all_due(outbox, at(60)):
        seen += [(n.episode, n.number) for n in found]
        outbox.delivered(found[0], None, at(60))
    assert seen == [("e1", 0), ("e1", 1), ("e2", 0), ("e2", 1)]


def test_one_that_failed_waits_for_its_time_and_the_later_ones_wait_behind_it(outbox):
    tell_all(outbox)
    tell(outbox, a_group(key="g2", episode="e2"))
    outbox.failed(all_due(outbox, at(10))[0], "slack is away", at(30))
    assert due(outbox, 29.9) == [("slack", "g2", "e2", 0)]
    assert due(outbox, 30) == [("slack", "g1", "e1", 0), ("slack", "g2", "e2", 0)]


def test_one_that_failed_does_not_wait_for_a_clock_that_was_set_back(outbox):
    tell(outbox, a_group())
    outbox.failed(all_due(outbox, at(60))[0], "slack is away", at(60) + timedelta(days=300))
    assert due(outbox, 60) == [("slack", "g1", "e1", 0)]
    outbox.failed(all_due(outbox, at(60))[0], "slack is away", at(60) + LONGEST_WAIT)
    assert due(outbox, 60) == []


def test_whatever_a_receiver_says_is_kept(outbox):
    """Those of other packages may quote what no text of Postgres may hold."""
    said = "it said \0 and \ud800"
    tell_all(outbox)
    (first,) = all_due(outbox, at(10))
    outbox.failed(first, said, None, instead=replace(first, receiver="mail", instead_of=f"slack ({said})", id=None))
    (second,) = outbox.due(at(60), "slack")
    assert second.number == 1
    assert [n.number for n in outbox.due(at(60), "mail")] == [0]
    outbox.delivered(second, {"ts": said}, at(60))
    assert outbox.waiting() == ["mail"]


def test_every_failure_is_an_attempt(outbox):
    tell(outbox, a_group())
    for attempts in range(3):
        (found,) = all_due(outbox, at(60))
        assert found.attempts == attempts
        outbox.failed(found, "away", at(attempts))


def test_what_was_tried_is_in_doubt_until_it_is_delivered(outbox):
    tell_all(outbox)
    (first,) = all_due(outbox, at(60))
    assert not first.in_doubt
    outbox.mark_attempt(first)
    (again,) = all_due(outbox, at(60))
    assert (again.id, again.in_doubt, again.attempts) == (first.id, True, 0)
    outbox.delivered(again, None, at(60))
    (second,) = all_due(outbox, at(60))
    assert (second.number, second.in_doubt) == (1, False)


def test_one_given_up_makes_way_and_never_comes_back(outbox):
    tell_all(outbox)
    outbox.failed(all_due(outbox, at(10))[0], "the channel is gone", None)
    assert due(outbox) == [("slack", "g1", "e1", 1)]
    outbox.failed(all_due(outbox, at(60))[0], "the channel is gone", None)
    assert due(outbox, 10_000) == []


def test_a_receipt_comes_with_the_later_ones_of_the_same_episode_and_receiver(outbox):
    tell_all(outbox, 4)
    tell_all(outbox, 2, receiver="console", episode="e1")
    seen = []
    for receipt in ({"ts": "1.5", "thread": {"deep": [1, None, True]}}, None, {"ts": "2"}, None):
        slack = next(n for n in all_due(outbox, at(60)) if n.receiver == "slack")
        seen.append(slack.previous)
        outbox.failed(slack, "away", at(50))  # a receipt survives a failure
        slack = next(n for n in all_due(outbox, at(60)) if n.receiver == "slack")
        outbox.delivered(slack, receipt, at(60))
    assert seen == [None, *[{"ts": "1.5", "thread": {"deep": [1, None, True]}}] * 2, {"ts": "2"}]
    (console,) = all_due(outbox, at(60))
    assert console.previous is None


def test_a_receipt_of_another_episode_is_not_given_back(outbox):
    tell_all(outbox)
    tell(outbox, a_group(episode="e2"))
    for _ in range(2):
        outbox.delivered(all_due(outbox, at(10))[0], {"ts": "1"}, at(10))
    assert [(n.episode, n.previous) for n in all_due(outbox, at(60))] == [("e2", None)]


def test_the_fallback_gets_one_copy(outbox):
    tell_all(outbox)
    (found,) = all_due(outbox, at(60))
    instead = replace(found, receiver="pager", instead_of="slack (down)", id=None, attempts=0)
    outbox.failed(found, "down", at(61), instead=instead)
    outbox.failed(found, "down", at(62), instead=replace(instead, instead_of="slack (still down)"))
    (standing_in,) = all_due(outbox, at(60))
    assert (standing_in.receiver, standing_in.instead_of) == ("pager", "slack (down)")
    outbox.delivered(standing_in, None, at(60))
    outbox.failed(found, "down", None, instead=instead)
    assert due(outbox) == [("slack", "g1", "e1", 1)]


def test_receivers_are_named_for_whom_anything_waits(outbox):
    assert outbox.waiting() == []
    for receiver in ("slack", "pager", "console", "slack"):
        tell(outbox, a_group(receiver=receiver, key=f"g{len(outbox.groups())}", episode=f"e{len(outbox.groups())}"))
    assert outbox.waiting() == ["console", "pager", "slack"]
    outbox.delivered(outbox.due(at(60), "console")[0], None, at(60))
    outbox.failed(outbox.due(at(60), "pager")[0], "gone", None)
    assert outbox.waiting() == ["slack"]


def test_one_that_failed_comes_after_those_that_waited_longer(outbox):
    for minute, key in enumerate(("g1", "g2", "g3")):
        tell(outbox, a_group(key=key, episode=f"e{key}", told_at=at(minute)))
    outbox.failed(outbox.due(at(10), "slack")[0], "away", at(11))
    assert [n.group for n in outbox.due(at(20), "slack")] == ["g2", "g3", "g1"]
    for n in outbox.due(at(20), "slack"):
        outbox.failed(n, "away", at(30), attempted=n.group == "g2")
    found = outbox.due(at(30), "slack")
    assert [(n.group, n.attempts) for n in found] == [("g3", 0), ("g1", 1), ("g2", 1)]


def test_old_notifications_are_copied_to_the_fallback(outbox):
    tell_all(outbox, told_at=at(1))
    tell(outbox, a_group(key="g2", episode="e2", told_at=at(8)))
    tell(outbox, a_group(key="g3", episode="e3", told_at=at(1)), news="repeated")  # nobody is called
    outbox.failed(outbox.due(at(2), "slack")[0], "away", at(50))
    outbox.copy_to_fallback("slack", "pager")
    assert outbox.waiting() == ["slack"]
    for _ in range(2):
        outbox.copy_to_fallback("slack", "pager", made_before=at(5))
    (first,) = outbox.due(at(9), "pager")
    assert (first.episode, first.number, first.instead_of, first.attempts) == ("e1", 0, "slack (away)", 0)
    outbox.delivered(first, None, at(9))
    (second,) = outbox.due(at(9), "pager")
    assert (second.episode, second.number, second.instead_of) == ("e1", 1, "slack (not delivered yet)")
    outbox.delivered(second, None, at(9))
    assert outbox.due(at(9), "pager") == []


def test_the_fallback_gets_the_rest_of_the_episode(outbox):
    tell(outbox, a_group())
    outbox.copy_to_fallback("slack", "pager", made_before=at(5))
    outbox.delivered(outbox.due(at(9), "slack")[0], None, at(9))
    outbox.delivered(outbox.due(at(9), "pager")[0], {"a": 1}, at(9))
    tell(outbox, a_group(number=2, told_at=at(10)), over=True)
    tell(outbox, a_group(key="other", episode="e2", told_at=at(10)))
    outbox.copy_to_fallback("slack", "pager")
    (last,) = outbox.due(at(20), "pager")
    assert (last.episode, last.news, last.instead_of) == ("e1", "resolved", "slack (not delivered yet)")
    assert last.previous == {"a": 1}
    outbox.copy_to_fallback("pager", "console", made_before=at(50))  # nobody stands in for who stands in
    assert "console" not in outbox.waiting()
