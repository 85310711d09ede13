"""What every `Outbox` promises: each group is told in order, each notification once, and nothing is forgotten."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.alert.notification import Description, Notification
from monitor.alert.notify.dispatch import Group
from monitor.core.errors import Retriable
from monitor.simulate.fakes.outbox import MemoryOutbox
from monitor.store.alert.outbox import PostgresOutbox
from monitor.store.alert.responses import PostgresResponses
from monitor.store.database import connect
from tests.factories.alert import a_silence
from tests.factories.notifications import a_course, a_notification, a_resolved_told, a_told, an_example, at

TOLD = a_told(labels={"app": "shop", "topic": ""}, lower=None, upper=None, acknowledged_by="ada", silenced_until=at(9))


@pytest.fixture(params=["memory", "postgres"])
def backend(request):
    return request.param


@pytest.fixture
def outbox(backend, request):
    return MemoryOutbox() if backend == "memory" else PostgresOutbox(request.getfixturevalue("engine"))


@pytest.fixture
def silence(backend, outbox, request):
    """Keeps a silence."""

    def in_postgres(silence):
        PostgresResponses(request.getfixturevalue("engine")).silence(silence, now=silence.starts_at)

    return outbox.silenced.append if backend == "memory" else in_postgres


def a_group(**over) -> Group:
    """One that its first notification is told of."""
    known = {
        "key": "g1", "receiver": "slack", "labels": {"app": "shop"}, "episode": "e1", "number": 1, "told_at": at(1),
        "paged_at": at(1), "said": {"f" * 32: TOLD},
    }  # fmt: skip
    return Group(**known | over)


def tell(outbox, group: Group, *, over=False, **changes) -> Notification:
    known = {
        "receiver": group.receiver, "group": group.key, "episode": group.episode, "number": group.number - 1,
        "news": "resolved" if over else "changed", "at": group.told_at,
    }  # fmt: skip
    notification = a_notification(**known | changes)
    outbox.tell(group, notification, over=over)
    return notification


def tell_all(outbox, numbers=2, **over) -> None:
    """As many notifications of one group, the last of them its end."""
    for number in range(1, numbers + 1):
        tell(outbox, a_group(number=number, **over), over=number == numbers)


def all_due(outbox, moment):
    return sorted((n for name in outbox.waiting() for n in outbox.due(moment, name)), key=lambda n: n.id)


def due(outbox, minute=60.0):
    return [(n.receiver, n.group, n.episode, n.number) for n in all_due(outbox, at(minute))]


# --- groups ---


def test_a_group_stands_as_it_was_last_told_of(outbox):
    group = a_group(description=Description(changes=("a",), examples=(an_example(),), course=a_course()))
    tell(outbox, group)
    assert outbox.groups() == [group]
    after = replace(group, number=2, told_at=at(2.5), said={"f" * 32: TOLD, "b" * 32: a_told()}, description=None)
    tell(outbox, after)
    assert outbox.groups() == [after]
    tell(outbox, replace(after, number=3), over=True)
    assert outbox.groups() == []


def test_groups_are_told_apart_by_receiver_and_key(outbox):
    groups = [a_group(), a_group(receiver="pager", episode="e2"), a_group(key="g2", episode="e3")]
    for group in groups:
        tell(outbox, group)
    assert sorted(outbox.groups(), key=lambda g: g.episode) == groups


def test_a_group_that_is_over_may_begin_anew(outbox):
    tell_all(outbox)
    again = a_group(episode="e9")
    tell(outbox, again)
    assert outbox.groups() == [again]
    assert len(list(all_due(outbox, at(60)))) == 1  # the new one waits behind the old


@pytest.mark.parametrize(
    ("stands", "told", "over"),
    [
        (None, a_group(number=2), False),  # another ended it
        (None, a_group(number=2), True),
        (a_group(), a_group(), False),  # another began it
        (a_group(), a_group(episode="e9"), False),
        (a_group(number=2), a_group(number=2), False),  # another went on
        (a_group(number=2), a_group(number=2), True),
        (a_group(), a_group(episode="e9", number=2), False),  # another ended it and began anew
    ],
)
def test_who_tells_of_a_group_that_stands_elsewhere_tells_nothing(outbox, stands, told, over):
    for number in range(1, (stands.number if stands else 0) + 1):
        tell(outbox, replace(stands, number=number))
    groups, waiting = outbox.groups(), due(outbox)
    with pytest.raises(Retriable, match="another replica"):
        tell(outbox, told, over=over)
    assert (outbox.groups(), due(outbox)) == (groups, waiting)


# --- silences ---


def test_silences_are_there_until_they_end(outbox, silence):
    holds = a_silence('app="a \\"b\\" \\\\"', 'topic!~"x.*|y"', id="s1", end=5, comment="while we look")
    later = a_silence(id="s2", start=10, end=20)
    silence(holds)
    silence(later)
    assert outbox.silences(at(0)) == [holds, later]
    assert outbox.silences(at(5)) == [later]
    assert outbox.silences(at(20)) == []


# --- notifications ---


def test_every_field_of_a_notification_comes_back(outbox):
    given = tell(
        outbox,
        a_group(),
        news="firing",
        group_labels={"app": "多すぎる", "topic": ""},
        alerts=(a_told(value=0.123456789012345, samples=2**40, detail="d", below=True), a_resolved_told(note="n")),
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
    outbox.attempting(first)
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


def test_who_stands_in_is_told_once(outbox):
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


def test_what_was_made_long_ago_is_put_for_who_stands_in(outbox):
    tell_all(outbox, told_at=at(1))
    tell(outbox, a_group(key="g2", episode="e2", told_at=at(8)))
    tell(outbox, a_group(key="g3", episode="e3", told_at=at(1)), news="repeated")  # nobody is called
    outbox.failed(outbox.due(at(2), "slack")[0], "away", at(50))
    outbox.stand_in("slack", "pager")
    assert outbox.waiting() == ["slack"]
    for _ in range(2):
        outbox.stand_in("slack", "pager", made_before=at(5))
    (first,) = outbox.due(at(9), "pager")
    assert (first.episode, first.number, first.instead_of, first.attempts) == ("e1", 0, "slack (away)", 0)
    outbox.delivered(first, None, at(9))
    (second,) = outbox.due(at(9), "pager")
    assert (second.episode, second.number, second.instead_of) == ("e1", 1, "slack (not told yet)")
    outbox.delivered(second, None, at(9))
    assert outbox.due(at(9), "pager") == []


def test_who_was_told_instead_is_told_what_comes_later(outbox):
    tell(outbox, a_group())
    outbox.stand_in("slack", "pager", made_before=at(5))
    outbox.delivered(outbox.due(at(9), "slack")[0], None, at(9))
    outbox.delivered(outbox.due(at(9), "pager")[0], {"a": 1}, at(9))
    tell(outbox, a_group(number=2, told_at=at(10)), over=True)
    tell(outbox, a_group(key="other", episode="e2", told_at=at(10)))
    outbox.stand_in("slack", "pager")
    (last,) = outbox.due(at(20), "pager")
    assert (last.episode, last.news, last.instead_of) == ("e1", "resolved", "slack (not told yet)")
    assert last.previous == {"a": 1}
    outbox.stand_in("pager", "console", made_before=at(50))  # nobody stands in for who stands in
    assert "console" not in outbox.waiting()


# --- what nobody needs any more ---


def purged(outbox, *, before=100.0, resent_before=0.0, limit=10) -> int:
    return outbox.purge(before=at(before), resent_before=at(resent_before), limit=limit)


def test_what_was_told_goes_once_its_episode_is_over(outbox):
    tell(outbox, a_group())
    outbox.delivered(outbox.due(at(9), "slack")[0], {"ts": "1"}, at(9))
    assert purged(outbox) == 0  # it is not over
    tell(outbox, a_group(number=2), over=True)
    assert purged(outbox) == 0  # its end waits, and needs the receipt
    (last,) = outbox.due(at(10), "slack")
    assert last.previous == {"ts": "1"}
    outbox.delivered(last, None, at(10))
    assert purged(outbox, before=9) == 0
    assert purged(outbox, before=9.5) == 1
    assert purged(outbox) == 1


def test_what_was_given_up_goes_too_and_what_waits_never(outbox):
    for key in ("g1", "g2"):
        tell_all(outbox, key=key, episode=f"e{key}", told_at=at(1))
    for _ in range(2):
        outbox.failed(outbox.due(at(9), "slack")[0], "gone", None)
    assert purged(outbox, before=1) == 0
    assert purged(outbox, limit=1) == 1
    assert [purged(outbox), purged(outbox)] == [1, 0]
    assert due(outbox) == [("slack", "g2", "eg2", 0)]


def test_what_is_told_again_to_who_forgets_goes_soon(outbox):
    for number, (pages, receipt) in enumerate([(False, None), (True, None), (False, {"ts": "1"}), (False, None)], 1):
        tell(outbox, a_group(number=number, told_at=at(number)), news="repeated", pages=pages)
        outbox.delivered(outbox.due(at(60), "slack")[0], receipt, at(number))
    assert purged(outbox, before=0, resent_before=4) == 1
    assert purged(outbox, before=0, resent_before=5) == 1
    assert purged(outbox, resent_before=50) == 0


# --- the lock ---


def test_the_lock_that_nobody_holds_is_ours_and_is_given_back(outbox):
    with pytest.raises(ZeroDivisionError), outbox.delivering("slack"):
        raise ZeroDivisionError
    for _ in range(3):
        with outbox.delivering("slack") as ours:
            assert ours


def test_each_receiver_has_a_lock_of_its_own(outbox):
    with outbox.delivering("slack") as ours, outbox.delivering("pager") as theirs:
        assert ours
        assert theirs


def test_the_lock_that_another_replica_holds_is_not_ours(backend, outbox, request):
    if backend == "memory":
        outbox.locked_by_another = True
        with outbox.delivering("slack") as ours:
            assert not ours
        return
    with PostgresOutbox(request.getfixturevalue("engine")).delivering("slack") as theirs:
        assert theirs
        for _ in range(2):  # giving back what was not ours does not free it
            with outbox.delivering("slack") as ours:
                assert not ours
    with outbox.delivering("slack") as ours:
        assert ours


# --- out of reach ---


@pytest.fixture
def lost(backend, outbox):
    """An outbox that cannot be reached."""
    if backend == "memory":
        outbox.out_of_reach = True
        yield outbox
        return
    engine = connect("postgresql://127.0.0.1:1/nothing")
    yield PostgresOutbox(engine)
    engine.dispose()


@pytest.mark.parametrize(
    "call",
    [
        lambda o: o.groups(),
        lambda o: o.waiting(),
        lambda o: o.stand_in("slack", "pager"),
        lambda o: o.purge(before=at(0), resent_before=at(0), limit=1),
        lambda o: o.silences(at(0)),
        lambda o: tell(o, a_group()),
        lambda o: o.due(at(0), "slack"),
        lambda o: o.attempting(a_notification(id=1)),
        lambda o: o.delivered(a_notification(id=1), None, at(0)),
        lambda o: o.failed(a_notification(id=1), "away", at(0) + timedelta(minutes=1)),
        lambda o: o.delivering("slack").__enter__(),
    ],
    ids=[
        "groups",
        "waiting",
        "stand_in",
        "purge",
        "silences",
        "tell",
        "due",
        "attempting",
        "delivered",
        "failed",
        "delivering",
    ],
)
def test_an_outbox_out_of_reach_is_retriable(lost, call):
    with pytest.raises(Retriable):
        call(lost)
