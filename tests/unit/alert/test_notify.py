from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest

from monitor.alert.evaluate import evaluate
from monitor.alert.notification import Notification
from monitor.alert.notify import Delivery, deliver
from monitor.errors import Fatal, Retriable
from monitor.testing import MemoryAlertStore, MemoryReceiver
from tests.unit.alert.factories import a_notification, a_rule, at

DICE = Random(7)  # noqa: S311  jitter


@pytest.fixture
def store() -> MemoryAlertStore:
    return MemoryAlertStore()


def queue(store, *notifications: Notification) -> None:
    store.save((), notifications)


def send(store, receiver, minute=2, **more) -> Delivery:
    return deliver(store, {"memory": receiver}, at(minute), random=DICE, **more)


def test_each_is_sent_once_and_the_next_brings_the_receipt(store):
    queue(store, a_notification(), a_notification(status="resolved"))
    receiver = MemoryReceiver()
    assert send(store, receiver) == Delivery(delivered=1)
    assert send(store, receiver) == Delivery(delivered=1)
    assert send(store, receiver) == Delivery()
    assert [(n.status, n.previous) for n in receiver.sent] == [("firing", None), ("resolved", {"place": 1})]


def test_the_order_of_an_alert_is_kept_while_others_go_on(store):
    queue(store, a_notification(), a_notification(status="resolved"), a_notification(fingerprint="b", episode="b"))
    receiver = MemoryReceiver(Retriable("busy"))
    assert send(store, receiver) == Delivery(postponed=1)  # the receiver is left alone for the rest of the call
    assert send(store, receiver) == Delivery(delivered=1)
    assert [n.fingerprint for n in receiver.sent] == ["b"]
    send(store, receiver, 3)
    send(store, receiver, 3)
    assert [n.status for n in receiver.sent] == ["firing", "firing", "resolved"]


def test_pauses_double_with_jitter_up_to_ten_minutes(store):
    queue(store, a_notification())
    now, pauses = at(2), []
    for _ in range(10):
        deliver(store, {"memory": MemoryReceiver(Retriable("down"))}, now, random=DICE)
        retry_at = store.outbox[0].retry_at
        pauses.append((retry_at - now).total_seconds())
        assert send(store, MemoryReceiver(), (retry_at - at(0)).total_seconds() / 60 - 0.01) == Delivery()
        now = retry_at
    assert all(10 * 2**n / 2 <= pause <= min(10 * 2**n, 600) for n, pause in enumerate(pauses[:6]))
    assert 300 <= pauses[-1] <= 600
    assert store.outbox[0].error == "down"


def test_retry_after_is_honoured_for_all_of_the_receiver(store):
    queue(store, a_notification(), a_notification(fingerprint="b", episode="b"))
    receiver = MemoryReceiver(Retriable("slow down", retry_after=90))
    assert send(store, receiver) == Delivery(postponed=2)
    assert send(store, receiver, 3.4) == Delivery()
    assert send(store, receiver, 3.5) == Delivery(delivered=2)


def test_a_failure_that_will_not_pass_is_given_up_at_once_and_loudly(store, caplog):
    queue(store, a_notification(), a_notification(status="resolved"))
    receiver = MemoryReceiver(Fatal("no such channel: invite the app"))
    assert send(store, receiver) == Delivery(given_up=1)
    assert caplog.records[-1].levelname == "CRITICAL"
    assert store.outbox[0].error == "no such channel: invite the app"
    assert send(store, receiver) == Delivery(delivered=1)  # and makes way for the next


def test_after_the_deadline_it_is_given_up_with_its_error(store):
    queue(store, a_notification())
    send(store, MemoryReceiver(Retriable("down")), minute=24 * 60)
    assert not store.outbox[0].given_up
    send(store, MemoryReceiver(Retriable("down")), minute=24 * 60 + 3)
    assert store.outbox[0].given_up
    assert "down" in (store.outbox[0].error or "")


def test_a_defect_in_a_receiver_is_retried_and_its_text_kept_out(store):
    queue(store, a_notification())
    assert send(store, MemoryReceiver(KeyError("xoxb-secret"))) == Delivery(postponed=1)
    assert "xoxb" not in (store.outbox[0].error or "")


def test_a_receiver_that_is_not_configured_any_more_may_come_back(store):
    queue(store, a_notification())
    assert deliver(store, {}, at(2), random=DICE) == Delivery(postponed=1)
    assert send(store, MemoryReceiver(), minute=3) == Delivery(delivered=1)


def test_another_replica_delivers(store):
    queue(store, a_notification())
    store.locked_by_another = True
    assert send(store, MemoryReceiver()) == Delivery()


def test_killed_between_sending_and_marking_it_is_sent_again(store, monkeypatch):
    queue(store, a_notification())
    receiver = MemoryReceiver()
    with monkeypatch.context() as patch:

        def lost(*_):
            raise Retriable("the store is out of reach")

        patch.setattr(MemoryAlertStore, "delivered", lost)
        with pytest.raises(Retriable):
            send(store, receiver)
    assert send(store, receiver) == Delivery(delivered=1)
    assert len(receiver.sent) == 2


def test_a_notification_survives_the_outbox():
    notification = a_notification(note="why", url="https://x.example")
    again = Notification.from_json({**notification.to_json(), "new": 1}, id=7, attempts=2, previous={"ts": "1"})
    assert again == a_notification(note="why", url="https://x.example", id=7, attempts=2, previous={"ts": "1"})


def test_from_the_rollup_to_the_receiver(store):
    store.count(at(0), {"app": "shop"}, 20, negative=20)
    evaluate((a_rule(for_=timedelta()),), store, at(1), ("memory",), lambda *_: ())
    receiver = MemoryReceiver()
    send(store, receiver, 1)
    assert [(n.rule, n.value, n.labels) for n in receiver.sent] == [("negative-rate", 1.0, {"app": "shop"})]
