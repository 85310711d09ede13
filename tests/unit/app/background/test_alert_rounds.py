from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from threading import Event

import pytest

from monitor.alert.notification import Description
from monitor.alert.notify.deliver import AT_ONCE, Delivery
from monitor.alert.notify.loop import AlertLoop
from monitor.alert.rule import Grouping, RuleSet
from monitor.app.background.alert_rounds import alert_rounds
from monitor.core.errors import Retriable
from monitor.simulate.fakes.alerts import MemoryAlertStore
from monitor.simulate.fakes.outbox import MemoryOutbox, MemoryReceiver
from tests.factories.alert.alerts import a_rule, a_rule_set
from tests.factories.alert.notifications import a_notification, at
from tests.rig.waiting import until

RULE = a_rule(for_=timedelta(), receivers=None)
GROUPING = Grouping(wait=timedelta(), interval=timedelta())


class Resent(MemoryReceiver):
    resend = timedelta(minutes=1)


@pytest.fixture
def store():
    store = MemoryAlertStore()
    store.count(at(0), {"app": "shop"}, 20, negative=20)
    return store


def a_loop(store, **changes) -> AlertLoop:
    known = {
        "rules": lambda: a_rule_set(RULE, grouping=GROUPING),
        "store": store,
        "outbox": MemoryOutbox(),
        "receivers": {"memory": MemoryReceiver()},
        "describe": lambda _rules: lambda _told, _now: Description(changes=("It changed.",)),
        "link": lambda told: f"https://m/{told.fingerprint}",
        "random": Random(7),
    }
    return AlertLoop(**known | changes)


def test_from_counts_to_the_receiver_and_back(store):
    loop = a_loop(store)
    assert [change.alert.state.value for change in loop.evaluate(at(1))] == ["firing"]
    assert loop.deliver(at(1)) == Delivery(delivered=1)
    store.count(at(6), {"app": "shop"}, 20, negative=0)
    loop.evaluate(at(7))
    loop.deliver(at(7))
    first, last = loop.receivers["memory"].sent
    assert (first.news, first.changes, first.leading.value) == ("firing", ("It changed.",), 1.0)
    assert (last.news, last.episode, last.leading.resolved_at) == ("resolved", first.episode, at(7))
    assert first.url == f"https://m/{first.leading.fingerprint}"


def test_the_rules_are_asked_for_in_every_round(store):
    held = [a_rule_set(RULE, grouping=GROUPING), a_rule_set(grouping=GROUPING)]
    loop = a_loop(store, rules=lambda: held.pop(0))
    loop.evaluate(at(1))
    (ended,) = loop.evaluate(at(7))
    assert "removed" in (ended.alert.note or "")
    assert [row.notification.news for row in loop.outbox.rows] == ["firing", "resolved"]


def test_a_receiver_that_forgets_is_told_again(store):
    loop = a_loop(store, receivers={"memory": Resent()})
    for minute in (1, 1.5, 2):
        loop.evaluate(at(minute))
        loop.deliver(at(minute))
    assert [row.notification.news for row in loop.outbox.rows] == ["firing", "repeated"]


def test_while_another_replica_evaluates_nothing_is_asked_or_told(store):
    store.locked_by_another = True

    def rules() -> RuleSet:
        raise AssertionError

    assert a_loop(store, rules=rules).evaluate(at(1)) == []


def test_killed_between_evaluating_and_telling_it_is_told_in_the_next_round(store):
    loop = a_loop(store)
    loop.outbox.out_of_reach = True
    with pytest.raises(Retriable):
        loop.evaluate(at(1))
    loop.outbox.out_of_reach = False
    assert loop.evaluate(at(2)) == []  # it fires already
    assert [row.notification.news for row in loop.outbox.rows] == ["firing"]


class Stuck(MemoryReceiver):
    """Does not come back before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.free = Event(), Event()

    def send(self, notification):
        self.asked.set()
        assert self.free.wait(timeout=60)
        return super().send(notification)


class Heard(MemoryReceiver):
    def __init__(self) -> None:
        super().__init__()
        self.heard = Event()

    def send(self, notification):
        receipt = super().send(notification)
        self.heard.set()
        return receipt


def test_a_receiver_that_does_not_answer_holds_up_neither_the_rules_nor_another(store):
    stuck, other, evaluated = Stuck(), Heard(), Event()

    def rules() -> RuleSet:
        if stuck.asked.is_set() and other.heard.is_set():
            evaluated.set()
        return a_rule_set(RULE, grouping=GROUPING)

    def now():
        return datetime.now(UTC)

    store.count(now() - timedelta(minutes=2), {"app": "shop"}, 100, negative=100)
    with alert_rounds(a_loop(store, rules=rules, receivers={"a": stuck, "b": other}), interval=0.05, now=now):
        seen = [stuck.asked.wait(timeout=30), other.heard.wait(timeout=30), evaluated.wait(timeout=30)]
        stuck.free.set()
    assert seen == [True, True, True]


def test_what_is_found_is_told_at_once(store):
    other = Heard()

    def now():
        return datetime.now(UTC)

    store.count(now() - timedelta(minutes=2), {"app": "shop"}, 100, negative=100)
    with alert_rounds(a_loop(store, receivers={"memory": other}), interval=3600, now=now):
        assert other.heard.wait(timeout=30)


def test_a_storm_is_told_without_waiting_for_the_next_interval(store):
    told, outbox = MemoryReceiver(), MemoryOutbox()
    for number in range(2 * AT_ONCE + 1):
        outbox._put(a_notification(group=f"g{number}", episode=f"e{number}"))
    busy = a_loop(store, outbox=outbox, receivers={"memory": told})
    with alert_rounds(busy, interval=3600, now=lambda: datetime.now(UTC)):
        until("all are told", lambda: len(told.sent) == 2 * AT_ONCE + 1)


def test_a_defect_does_not_end_the_others(store, caplog):
    other, turns = Heard(), []

    def rules() -> RuleSet:
        turns.append(1)
        if len(turns) < 3:
            raise ZeroDivisionError
        return a_rule_set(RULE, grouping=GROUPING)

    def now():
        return datetime.now(UTC)

    store.count(now() - timedelta(minutes=2), {"app": "shop"}, 100, negative=100)
    with alert_rounds(a_loop(store, rules=rules, receivers={"memory": other}), interval=0.02, now=now):
        assert other.heard.wait(timeout=30)
    assert "evaluation of the alert rules: a defect; trying again in the next round" in caplog.text


def test_what_waits_for_a_receiver_that_is_gone_is_seen_to(store):
    loop = a_loop(store)
    loop.evaluate(at(1))
    bare = a_loop(store, outbox=loop.outbox, receivers={})
    assert bare.deliver_rest(at(2)) == Delivery(postponed=1)
    assert loop.deliver_rest(at(3)) == Delivery()


def test_a_round_that_fails_does_not_end_the_others(store, caplog):
    turned, rounds = Event(), []

    def now():
        rounds.append(datetime.now(UTC))  # the scheduler goes by the machine's clock
        if len(rounds) > 6:
            turned.set()
        return rounds[-1]

    store.out_of_reach = True
    with alert_rounds(a_loop(store), interval=0.01, now=now):
        assert turned.wait(timeout=60)
    assert "trying again in the next round" in caplog.text
