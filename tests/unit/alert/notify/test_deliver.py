from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from monitor.alert.notification import Notification
from monitor.alert.notify.deliver import AT_ONCE, KEPT, Delivery, Patience, deliver, purge
from monitor.core.errors import Fatal, Retriable
from monitor.simulate.fakes.outbox import MemoryOutbox, MemoryReceiver
from tests.factories.alert.notifications import (
    a_notification,
    a_notified_alert,
    a_resolved_notification,
    at,
)

DICE = Random(7)
FALLBACK = Patience(fallback="fallback", fallback_after=timedelta(minutes=5))
ANOTHER = a_notification(group="b", episode="b")


@pytest.fixture
def outbox() -> MemoryOutbox:
    return MemoryOutbox()


def queue(outbox, *notifications: Notification) -> None:
    for notification in notifications:
        outbox._put(notification)


def send(outbox, receiver, minute=2.0, **more) -> Delivery:
    return deliver(outbox, {"memory": receiver}, at(minute), random=DICE, **more)


def test_each_is_sent_once_and_the_next_brings_the_receipt(outbox):
    queue(outbox, a_notification(), a_resolved_notification())
    receiver = MemoryReceiver()
    assert send(outbox, receiver) == Delivery(delivered=1)
    assert send(outbox, receiver) == Delivery(delivered=1)
    assert send(outbox, receiver) == Delivery()
    assert [(n.news, n.previous) for n in receiver.sent] == [("firing", None), ("resolved", {"place": 1})]


def test_the_order_of_a_group_is_kept_while_others_go_on(outbox):
    queue(outbox, a_notification(), a_resolved_notification(), ANOTHER)
    receiver = MemoryReceiver(Retriable("busy"))
    assert send(outbox, receiver) == Delivery(postponed=1)  # the receiver is left alone for the rest of the call
    assert send(outbox, receiver) == Delivery(delivered=1)
    assert [n.group for n in receiver.sent] == ["b"]
    send(outbox, receiver, 3)
    send(outbox, receiver, 3)
    assert [n.news for n in receiver.sent] == ["firing", "firing", "resolved"]


def test_a_page_does_not_wait_behind_a_storm_of_other_messages(outbox):
    storm = [a_resolved_notification(group=f"g{n}", episode=f"e{n}") for n in range(2 * AT_ONCE)]
    warning = a_notified_alert(severity="warning")
    mild = a_notification(group="mild", episode="mild", pages=True, alerts=(warning,))
    queue(outbox, *storm, mild)
    receiver = MemoryReceiver()
    assert send(outbox, receiver) == Delivery(delivered=AT_ONCE)
    queue(outbox, a_notification(group="new", episode="new", pages=True))
    assert send(outbox, receiver) == Delivery(delivered=AT_ONCE)
    assert send(outbox, receiver) == Delivery(delivered=2)
    order = [n.group for n in receiver.sent]
    assert (order[0], order[AT_ONCE]) == ("mild", "new")
    assert sorted(order) == sorted(["mild", "new", *(n.group for n in storm)])


def test_what_waits_behind_the_first_ones_is_left_alone_for_as_long_as_the_receiver_asks(outbox):
    queue(outbox, *(a_notification(group=f"g{n}", episode=f"e{n}") for n in range(2 * AT_ONCE)))
    assert send(outbox, MemoryReceiver(Retriable("busy", retry_after=600))) == Delivery(postponed=2 * AT_ONCE)
    assert send(outbox, MemoryReceiver(), 3) == Delivery()


def test_one_receiver_that_fails_does_not_keep_another_waiting(outbox):
    queue(outbox, a_notification(), a_notification(receiver="other"))
    receivers = {"memory": MemoryReceiver(Retriable("busy")), "other": MemoryReceiver()}
    assert deliver(outbox, receivers, at(2), random=DICE) == Delivery(delivered=1, postponed=1)


def test_pauses_double_with_jitter_up_to_ten_minutes(outbox):
    queue(outbox, a_notification())
    now, pauses = at(2), []
    for _ in range(10):
        deliver(outbox, {"memory": MemoryReceiver(Retriable("down"))}, now, random=DICE)
        retry_at = outbox.rows[0].retry_at
        pauses.append((retry_at - now).total_seconds())
        assert send(outbox, MemoryReceiver(), (retry_at - at(0)).total_seconds() / 60 - 0.01) == Delivery()
        now = retry_at
    assert all(10 * 2**n / 2 <= pause <= min(10 * 2**n, 600) for n, pause in enumerate(pauses[:6]))
    assert 300 <= pauses[-1] <= 600
    assert outbox.rows[0].error == "down"


def test_retry_after_is_honoured_for_all_of_the_receiver(outbox):
    queue(outbox, a_notification(), ANOTHER)
    receiver = MemoryReceiver(Retriable("slow down", retry_after=90))
    assert send(outbox, receiver) == Delivery(postponed=2)
    assert send(outbox, receiver, 3.4) == Delivery()
    assert send(outbox, receiver, 3.5) == Delivery(delivered=2)


@pytest.mark.parametrize("seconds", [1e300, float("inf"), float("nan"), 10**9, -5.0])
def test_a_service_may_ask_for_an_hour_at_most(outbox, seconds):
    queue(outbox, a_notification())
    assert send(outbox, MemoryReceiver(Retriable("slow down", retry_after=seconds))) == Delivery(postponed=1)
    assert outbox.rows[0].retry_at <= at(62)


def test_a_failure_that_will_not_pass_is_given_up_at_once_and_loudly(outbox, caplog):
    queue(outbox, a_notification(), a_resolved_notification())
    receiver = MemoryReceiver(Fatal("no such channel: invite the app"))
    assert send(outbox, receiver) == Delivery(given_up=1)
    assert caplog.records[-1].levelname == "CRITICAL"
    assert outbox.rows[0].error == "no such channel: invite the app"
    assert send(outbox, receiver) == Delivery(delivered=1)  # and makes way for the next


def test_after_the_deadline_it_is_given_up_with_its_error(outbox):
    queue(outbox, a_notification(at=at(0)))
    send(outbox, MemoryReceiver(Retriable("down")), minute=24 * 60 - 1)
    assert not outbox.rows[0].given_up
    send(outbox, MemoryReceiver(Retriable("down")), minute=24 * 60 + 3)
    assert outbox.rows[0].given_up
    assert "down" in (outbox.rows[0].error or "")


def test_a_defect_in_a_receiver_is_retried_and_its_text_kept_out(outbox):
    queue(outbox, a_notification())
    assert send(outbox, MemoryReceiver(KeyError("xoxb-secret"))) == Delivery(postponed=1)
    assert "xoxb" not in (outbox.rows[0].error or "")


def test_a_receiver_that_is_not_configured_any_more_may_come_back(outbox):
    queue(outbox, a_notification())
    assert deliver(outbox, {}, at(2), random=DICE) == Delivery(postponed=1)
    assert send(outbox, MemoryReceiver(), minute=3) == Delivery(delivered=1)


def test_another_replica_delivers(outbox):
    queue(outbox, a_notification())
    outbox.locked_by_another = True
    assert send(outbox, MemoryReceiver()) == Delivery()


def test_a_notification_sent_but_not_marked_is_sent_again_in_doubt(outbox, monkeypatch):
    queue(outbox, a_notification())
    receiver = MemoryReceiver()
    with monkeypatch.context() as patch:

        def lost(*_):
            raise Retriable("the store is out of reach")

        patch.setattr(MemoryOutbox, "delivered", lost)
        with pytest.raises(Retriable):
            send(outbox, receiver)
    assert send(outbox, receiver) == Delivery(delivered=1)
    assert [n.in_doubt for n in receiver.sent] == [False, True]


# --- the fallback ---


def test_a_receiver_that_goes_on_failing_is_stood_in_for_once(outbox):
    queue(outbox, a_notification())
    fallback = MemoryReceiver()
    for minute in (2, 8, 30, 60):
        down = MemoryReceiver(Retriable("down"))
        deliver(outbox, {"memory": down, "fallback": fallback}, at(minute), random=DICE, patience=FALLBACK)
    assert [(n.news, n.instead_of) for n in fallback.sent] == [("firing", "memory (down)")]
    assert outbox.rows[0].delivered_at is None
    assert not outbox.rows[0].given_up


def test_a_receiver_that_is_slow_for_a_moment_is_not_stood_in_for(outbox):
    queue(outbox, a_notification())
    send(outbox, MemoryReceiver(Retriable("busy")), 3, patience=FALLBACK)
    assert len(outbox.rows) == 1


def test_a_given_up_notification_goes_to_the_fallback_at_once(outbox):
    queue(outbox, a_notification())
    send(outbox, MemoryReceiver(Fatal("revoked")), patience=FALLBACK)
    (_, instead) = (row.notification for row in outbox.rows)
    assert (instead.receiver, instead.instead_of, instead.attempts) == ("fallback", "memory (revoked)", 0)


def test_a_notification_for_a_busy_service_goes_to_the_fallback(outbox):
    queue(outbox, a_notification(), ANOTHER)
    send(outbox, MemoryReceiver(Retriable("slow down", retry_after=90)), 9, patience=FALLBACK)
    assert [row.notification.instead_of for row in outbox.rows[2:]] == [
        "memory (slow down)",
        "memory (memory asked to wait)",
    ]


def test_all_notifications_for_a_receiver_that_is_down_go_to_the_fallback(outbox):
    queue(outbox, *(a_notification(group=f"g{n}", episode=f"e{n}") for n in range(100)))
    fallback = MemoryReceiver()
    for second in range(0, 330, 15):
        down = MemoryReceiver(*[Retriable("down")] * 100)
        deliver(outbox, {"memory": down, "fallback": fallback}, at(2 + second / 60), random=DICE, patience=FALLBACK)
    assert sorted(n.episode for n in fallback.sent) == sorted(f"e{n}" for n in range(100))
    assert sum(row.notification.attempts for row in outbox.rows) == 22  # one a call; to wait is no attempt


def test_each_notification_has_its_turn_when_the_receiver_keeps_failing(outbox):
    queue(outbox, *(a_notification(group=f"g{n}", episode=f"e{n}") for n in range(10)))
    for minute in range(3, 13):
        send(outbox, MemoryReceiver(Retriable("down"), *[Retriable("down")] * 9), minute)
    assert [row.notification.attempts for row in outbox.rows] == [1] * 10


def test_what_waits_behind_one_that_fails_is_given_up_in_time(outbox):
    queue(outbox, ANOTHER, a_notification(at=at(0)))
    outbox.failed(outbox.rows[1].notification, "down", at(24 * 60 + 5), attempted=False)
    send(outbox, MemoryReceiver(Retriable("down")), 24 * 60 + 1, patience=FALLBACK)
    send(outbox, MemoryReceiver(Retriable("down")), 24 * 60 + 6, patience=FALLBACK)
    assert [row.given_up for row in outbox.rows[:2]] == [True, True]
    assert {row.notification.episode for row in outbox.rows[2:]} == {"b", a_notification().episode}


def test_who_asked_to_wait_for_long_is_stood_in_for_in_time(outbox):
    queue(outbox, a_notification())
    send(outbox, MemoryReceiver(Retriable("slow down", retry_after=3600)), 2, patience=FALLBACK)
    send(outbox, MemoryReceiver(), 7.1, patience=FALLBACK)
    assert [row.notification.receiver for row in outbox.rows] == ["memory", "fallback"]


def test_the_fallback_hears_the_end_too(outbox):
    queue(outbox, a_notification())
    send(outbox, MemoryReceiver(Retriable("down")), 8, patience=FALLBACK)
    queue(outbox, a_notification(number=1, news="changed"), a_resolved_notification(number=2))
    receivers = {"memory": MemoryReceiver(), "fallback": MemoryReceiver()}
    for minute in (21, 22, 23, 24):
        deliver(outbox, receivers, at(minute), random=DICE, patience=FALLBACK)
    assert [n.news for n in receivers["memory"].sent] == ["firing", "changed", "resolved"]
    assert [(n.news, n.instead_of) for n in receivers["fallback"].sent] == [
        ("firing", "memory (down)"),
        ("changed", "memory (down)"),
        ("resolved", "memory (down)"),
    ]


def test_repetitions_for_receivers_that_forget_do_not_go_to_the_fallback(outbox):
    queue(outbox, a_notification(news="repeated"), a_notification(group="b", episode="b", news="repeated", pages=True))
    send(outbox, MemoryReceiver(Fatal("gone"), Fatal("gone")), 9, patience=FALLBACK)
    assert [row.notification.episode for row in outbox.rows[2:]] == ["b"]


def test_purging_uses_small_transactions(outbox, monkeypatch):
    monkeypatch.setattr("monitor.alert.notify.deliver._ROWS", 2)
    queue(outbox, *(a_notification(group=f"g{n}", episode=f"e{n}") for n in range(5)))
    send(outbox, MemoryReceiver())
    assert purge(outbox, at(2) + KEPT) == 0
    assert purge(outbox, at(3) + KEPT) == 5
    assert outbox.rows == []


def test_the_fallback_has_no_fallback(outbox):
    queue(outbox, a_notification(receiver="fallback"))
    deliver(outbox, {"fallback": MemoryReceiver(Fatal("gone"))}, at(9), random=DICE, patience=FALLBACK)
    assert len(outbox.rows) == 1
    queue(outbox, a_notification(episode="other", receiver="fallback", instead_of="slack (down)"))
    other = Patience(fallback="third")
    deliver(outbox, {"fallback": MemoryReceiver(Fatal("gone"))}, at(9), random=DICE, patience=other)
    assert len(outbox.rows) == 2


def test_a_notification_survives_the_outbox():
    notification = a_notification(url="https://x.example", by="ada")
    again = Notification.from_json({**notification.to_json(), "new": 1}, id=7, attempts=2, previous={"ts": "1"})
    assert again == a_notification(url="https://x.example", by="ada", id=7, attempts=2, previous={"ts": "1"})


def test_rows_name_the_times_as_every_release_does():
    """The release before reads them during an upgrade, and its rows are read after it."""
    (alert,) = a_notification().to_json()["alerts"]
    assert (alert["started_at"], alert["fired_at"]) == ("2025-11-21T12:00:00Z", "2025-11-21T12:02:00Z")
    (stored,) = Notification.from_json(a_notification().to_json()).alerts
    assert (stored.breaching_since, stored.fired_at) == (at(0), at(2))
