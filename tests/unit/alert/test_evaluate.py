from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.evaluate import evaluate
from monitor.alert.notification import MAX_EXAMPLE_CHARS
from monitor.alert.rule import Selector
from monitor.alert.state import State
from monitor.errors import Retriable
from monitor.testing import MemoryAlertStore
from tests.unit.alert.factories import a_rule, an_example, at

SHOP = {"app": "shop", "environment": "production"}
AT_ONCE = a_rule(for_=timedelta())


@pytest.fixture
def store() -> MemoryAlertStore:
    return MemoryAlertStore()


def run(store, now, *rules, receivers=("memory",), examples=lambda *_: (), **more):
    changes = evaluate(rules or (AT_ONCE,), store, at(now), receivers, examples, **more)
    return [(change.alert.labels["app"], change.alert.state.value) for change in changes]


def test_from_counts_to_one_notification_each_way(store):
    rule = a_rule()
    for minute in range(4):
        store.count(at(minute), SHOP, 20, negative=12)
    assert run(store, 1, rule) == [("shop", "pending")]
    assert run(store, 2, rule) == []
    assert run(store, 3, rule) == [("shop", "firing")]
    assert run(store, 3.5, rule) == []
    for minute in range(4, 8):
        store.count(at(minute), SHOP, 100, negative=1)
    assert run(store, 8, rule) == [("shop", "resolved")]
    assert [(r.notification.receiver, r.notification.status) for r in store.outbox] == [
        ("memory", "firing"),
        ("memory", "resolved"),
    ]
    firing, resolved = (row.notification for row in store.outbox)
    assert firing.episode == resolved.episode
    assert (firing.value, firing.samples, firing.started_at, firing.at) == (0.6, 60, at(1), at(3))


def test_the_unfinished_minute_counts(store):
    store.count(at(0), SHOP, 20, negative=20)
    assert run(store, 0.2) == [("shop", "firing")]


def test_one_alert_per_combination_within_the_selection(store):
    for app, environment in (
        ("shop", "production"),
        ("bank", "production"),
        ("bank", "staging"),
        ("zoo", "production"),
    ):
        store.count(at(0), {"app": app, "environment": environment}, 20, negative=20)
    rule = a_rule(
        for_=timedelta(),
        by=("app", "environment"),
        selector=Selector(app=("shop", "bank"), environment=("production",)),
    )
    assert run(store, 1, rule) == [("bank", "firing"), ("shop", "firing")]


def test_every_receiver_configured_is_told_unless_the_rule_names_some(store):
    store.count(at(0), SHOP, 20, negative=20)
    run(store, 1, a_rule(for_=timedelta(), receivers=None), receivers=("slack", "console"))
    assert sorted(row.notification.receiver for row in store.outbox) == ["console", "slack"]


def test_labels_that_vanish_end_what_is_pending(store):
    store.count(at(0), SHOP, 20, negative=20)
    patient = a_rule(for_=timedelta(minutes=30))
    assert run(store, 1, patient) == [("shop", "pending")]
    assert run(store, 60, patient) == [("shop", "inactive")]


def test_labels_that_vanish_hold_what_is_firing(store):
    store.count(at(0), SHOP, 20, negative=20)
    assert run(store, 1) == [("shop", "firing")]
    assert run(store, 60) == []
    assert store.alerts()[0].state is State.FIRING


def test_a_removed_rule_resolves_its_alerts_with_a_note(store):
    store.count(at(0), SHOP, 20, negative=20)
    run(store, 1)
    assert run(store, 2, a_rule(name="another")) == [("shop", "pending"), ("shop", "resolved")]
    assert "negative-rate" in (store.outbox[-1].notification.note or "")


def test_another_replica_evaluates(store):
    store.count(at(0), SHOP, 20, negative=20)
    store.locked_by_another = True
    assert run(store, 1) == []


def test_a_round_that_was_not_saved_is_made_again_without_a_second_page(store):
    store.count(at(0), SHOP, 20, negative=20)
    store.out_of_reach = True
    with pytest.raises(Retriable):
        run(store, 1)
    store.out_of_reach = False
    assert run(store, 1.2) == [("shop", "firing")]
    assert run(store, 1.2) == []
    assert len(store.outbox) == 1


def test_an_evaluator_that_lost_its_lock_stores_nothing(store):
    store.count(at(0), SHOP, 20, negative=20)
    changes = evaluate((AT_ONCE,), store, at(1), ("memory",), lambda *_: ())
    with pytest.raises(Retriable, match="another evaluator"):
        store.save(changes, ())


def test_one_rule_that_fails_does_not_stop_the_others(store, monkeypatch, caplog):
    store.count(at(0), SHOP, 20, negative=20)
    real = store.window_counts

    def counts(selector, signal, by, start, end):
        if signal == "refusal":
            raise ZeroDivisionError
        return real(selector, signal, by, start, end)

    monkeypatch.setattr(MemoryAlertStore, "window_counts", lambda _, *a: counts(*a))
    broken = a_rule(name="broken", signal="refusal")
    assert run(store, 1, broken, AT_ONCE) == [("shop", "firing")]
    assert "'broken'" in caplog.text


def test_examples_come_from_the_whole_episode_and_are_cut(store):
    asked = []

    def examples(rule, labels, start, end):
        asked.append((rule.name, dict(labels), start, end))
        return [an_example(id=str(n), answer="x" * 10_000) for n in range(5)]

    store.count(at(0), SHOP, 20, negative=20)
    run(store, 1, examples=examples)
    store.count(at(9), SHOP, 20, negative=0)
    run(store, 10, examples=examples)
    assert asked == [
        ("negative-rate", {"app": "shop"}, at(-4), at(1)),
        ("negative-rate", {"app": "shop"}, at(-4), at(10)),
    ]
    shown = store.outbox[0].notification.examples
    assert [example.id for example in shown] == ["0", "1", "2"]
    assert len(shown[0].answer) == MAX_EXAMPLE_CHARS


def test_a_page_goes_out_without_examples_when_they_fail(store, caplog):
    def examples(*_):
        raise Retriable("the examples take too long")

    store.count(at(0), SHOP, 20, negative=20)
    assert run(store, 1, examples=examples) == [("shop", "firing")]
    assert "no examples" in caplog.text


def test_a_link_leads_to_the_alert(store):
    store.count(at(0), SHOP, 20, negative=20)
    run(store, 1, link=lambda alert: f"https://monitor.example/alerts/{alert.episode}")
    notification = store.outbox[0].notification
    assert notification.url == f"https://monitor.example/alerts/{notification.episode}"
