from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

import pytest

from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.methods.sequential import Sequential
from monitor.alert.methods.threshold import Threshold
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.state import State
from monitor.alert.target import parse_target
from monitor.alert.window import Count, Counts
from monitor.core.errors import Fatal, Retriable
from monitor.simulate.fakes.alerts import MemoryAlertStore
from tests.factories.alert.alerts import a_method, a_rule
from tests.factories.alert.notifications import at

SHOP = {"app": "shop", "environment": "production"}
AT_ONCE = a_rule(for_=timedelta())
LAG = Signal(kind=SignalKind.LAG)


class Store(MemoryAlertStore):
    """One in which some rates cannot be counted."""

    __slots__ = ("broken",)
    broken: dict[str, Exception]

    def counts(self, signal, selector, by, spans):
        if error := getattr(self, "broken", {}).get(signal.name):
            raise error
        return MemoryAlertStore.counts(self, signal, selector, by, spans)


@pytest.fixture
def store() -> Store:
    return Store()


def run(store, minute, *rules, receivers=("memory",)):
    changes = evaluate(rules or (AT_ONCE,), store, at(minute), receivers)
    return [(change.alert.labels.get("app", "-"), change.alert.state.value) for change in changes]


def test_from_counts_to_firing_and_back(store):
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
    (alert,) = store.alerts()
    assert (alert.active_since, alert.fired_at, alert.resolved_at) == (at(1), at(3), at(8))
    assert [change.alert.value for change in store.history] == [0.6, 0.6, pytest.approx(16 / 420)]


def test_one_alert_per_combination_within_the_selection(store):
    for app, environment in (
        ("shop", "production"),
        ("bank", "production"),
        ("bank", "staging"),
        ("zoo", "production"),
    ):
        store.count(at(0), {"app": app, "environment": environment}, 20, negative=20)
    selector = {"app": ("shop", "bank"), "environment": ("production",)}
    rule = a_rule(for_=timedelta(), by=("app", "environment"), selector=selector)
    assert run(store, 1, rule) == [("bank", "firing"), ("shop", "firing")]


def test_without_labels_there_is_one_alert_for_all(store):
    store.count(at(0), SHOP, 20, negative=20)
    store.count(at(0), {"app": "bank"}, 20, negative=0)
    assert run(store, 1, a_rule(for_=timedelta(), by=())) == [("-", "firing")]
    assert store.alerts()[0].labels == {}


def test_a_rule_without_receivers_notifies_every_configured_one(store):
    store.count(at(0), SHOP, 20, negative=20)
    run(store, 1, a_rule(for_=timedelta(), receivers=None), a_rule(name="b", for_=timedelta()), receivers=("x", "y"))
    assert {alert.rule: alert.receivers for alert in store.alerts()} == {
        "negative-rate": ("x", "y"),
        "b": ("memory",),
    }


def test_evaluating_twice_at_once_changes_nothing_more(store):
    store.count(at(0), SHOP, 20, negative=20)
    assert run(store, 1) == [("shop", "firing")]
    alerts, memory = store.alerts(), store.memory(AT_ONCE.digest)
    assert run(store, 1) == []
    assert (store.alerts(), store.memory(AT_ONCE.digest)) == (alerts, memory)


def test_labels_that_vanish_end_what_is_pending(store):
    store.count(at(0), SHOP, 20, negative=20)
    patient = a_rule(for_=timedelta(minutes=30))
    assert run(store, 1, patient) == [("shop", "pending")]
    assert run(store, 60, patient) == [("shop", "inactive")]


def test_labels_that_vanish_hold_what_is_firing_for_a_day(store):
    store.count(at(0), SHOP, 20, negative=20)
    assert run(store, 1) == [("shop", "firing")]
    assert run(store, 60) == []
    assert run(store, 60 * 23) == []
    assert run(store, 60 * 24 + 2) == [("shop", "resolved")]
    assert store.history[-1].alert.note == "ended because nothing has arrived for 1 day"


def test_labels_that_vanish_fire_on_where_that_counts_as_alerting(store):
    rule = a_rule(for_=timedelta(), no_data="alerting")
    store.count(at(0), SHOP, 20, negative=20)
    assert run(store, 1, rule) == [("shop", "firing")]
    assert run(store, 60 * 24 + 2, rule) == []


def test_labels_that_vanish_are_no_data_where_the_rule_says_so(store):
    rule = a_rule(for_=timedelta(), no_data="no_data")
    store.count(at(0), SHOP, 20, negative=0)
    assert run(store, 1, rule) == []
    assert run(store, 6, rule) == [("shop", "no_data")]
    assert run(store, 60 * 24 * 3, rule) == []  # and stay so
    store.count(at(60 * 24 * 3), SHOP, 20, negative=0)
    assert run(store, 60 * 24 * 3 + 1, rule) == [("shop", "resolved")]


# --- reading is behind ---


def test_what_is_half_read_holds_everything(store):
    patient = a_rule(for_=timedelta(minutes=5))
    store.count(at(0), SHOP, 20, negative=20)
    store.watermark_at = at(0)
    assert run(store, 1, patient) == [("shop", "pending")]
    store.watermark_at = at(1)
    assert run(store, 3, patient) == []
    assert store.rounds[-1].stale
    assert store.alerts()[0].state is State.PENDING
    store.watermark_at = None  # nothing is being read: what is stored is all there is
    assert run(store, 9, patient) == [("shop", "inactive")]


def test_a_rule_that_waits_longer_for_what_is_late_holds_later(store):
    store.watermark_at = at(0)
    run(store, 2, a_rule(), a_rule(name="patient", lateness=timedelta(minutes=5)))
    assert [done.stale for done in store.rounds] == [True, False]


def test_a_state_of_now_is_judged_while_reading_is_behind(store):
    store.watermark_at = at(0)
    store.states = [Counts(labels={"source": "t"}, counts=(Count(total=1, sum=900, squares=810_000),))]
    rule = a_rule(signal=LAG, method=a_method(above=parse_target(300)), by=("source",), for_=timedelta())
    assert [change.alert.labels for change in evaluate([rule], store, at(60), ("m",))] == [{"source": "t"}]
    (alert,) = store.alerts()
    assert (alert.value, alert.unit, alert.lower, alert.upper) == (900, "seconds", 900, 900)


def test_of_states_under_the_same_labels_the_worst_counts(store):
    store.states = [
        Counts(labels={"source": source}, counts=(Count(total=1, sum=lag, squares=lag * lag),))
        for source, lag in (("a", 10.0), ("b", 900.0), ("c", 5000.0))
    ]
    method = a_method(above=parse_target(300))
    chosen = a_rule(signal=LAG, method=method, by=(), selector={"source": ("a", "b")}, for_=timedelta())
    assert [change.alert.value for change in evaluate([chosen], store, at(0), ("m",))] == [900]
    store.states = []
    assert run(store, 1, chosen) == []
    assert run(store, 2, a_rule(**{**_fields(chosen), "no_data": "normal"})) == [("-", "resolved")]


def _fields(rule) -> dict[str, Any]:
    return {name: getattr(rule, name) for name in rule.__dataclass_fields__}


# --- rules that come, go and change ---


def test_a_removed_rule_resolves_its_alerts_with_a_note(store):
    store.count(at(0), SHOP, 20, negative=20)
    run(store, 1)
    assert run(store, 2, a_rule(name="another")) == [("shop", "pending")]
    assert run(store, 5.9, a_rule(name="another")) == [("shop", "inactive")]  # another replica may evaluate it still
    assert run(store, 6, a_rule(name="another")) == [("shop", "resolved")]
    assert ["negative-rate" in (alert.note or "") for alert in store.alerts()] == [True]
    assert store.memory(AT_ONCE.digest).by_fingerprint == {}


def test_a_rule_that_measures_something_else_begins_anew(store):
    store.count(at(0), SHOP, 20, negative=20, refusal=20)
    run(store, 1)
    other = a_rule(signal=Signal(kind=SignalKind.RATE, name="refusal"))
    assert other.digest != AT_ONCE.digest
    assert run(store, 2, other) == [("shop", "pending")]
    assert len({alert.fingerprint for alert in store.alerts()}) == 2
    assert ("shop", "resolved") in run(store, 6, other)


def test_a_tuned_rule_keeps_its_alerts(store):
    store.count(at(0), SHOP, 20, negative=20)
    run(store, 1)
    tuned = a_rule(for_=timedelta(), method=a_method(above=parse_target(0.9)), severity="critical")
    assert run(store, 2, tuned) == []
    assert (store.alerts()[0].bound, store.alerts()[0].severity) == (0.9, "critical")


# --- failures ---


def failing(store, error: Exception, *rules, since=1):
    """A rule that fails from the first minute on; what changes in the sixth."""
    store.broken = {"refusal": error}
    for minute in range(since, 6):
        assert run(store, minute, *rules) == []
    return run(store, 6, *rules)


BROKEN = a_rule(name="broken", signal=Signal(kind=SignalKind.RATE, name="refusal"))


@pytest.mark.parametrize("error", [ZeroDivisionError(), Retriable("database: canceling statement")])
def test_one_rule_that_fails_does_not_stop_the_others(store, caplog, error):
    store.broken = {"refusal": error}
    store.count(at(0), SHOP, 20, negative=20)
    assert run(store, 1, BROKEN, AT_ONCE) == [("shop", "firing")]
    assert "'broken'" in caplog.text
    assert store.rounds[0].error
    assert store.rounds[1].error is None


def test_a_rule_that_goes_on_failing_is_in_error_until_it_is_mended(store):
    assert failing(store, ZeroDivisionError(), BROKEN) == [("-", "error")]
    assert store.alerts()[0].detail == "the rule cannot be evaluated: ZeroDivisionError"
    assert run(store, 9, BROKEN) == []
    store.broken = {}
    assert run(store, 10, BROKEN) == [("-", "resolved")]
    assert store.memory(BROKEN.digest).failing_since is None


@pytest.mark.parametrize("more", [{"no_data": "no_data"}, {"no_data": "alerting"}, {"error": "alerting"}])
def test_the_alert_that_stood_in_for_all_ends_whatever_no_data_means(store, more):
    rule = a_rule(**{**_fields(BROKEN), **more, "for_": timedelta()})
    assert len(failing(store, ZeroDivisionError(), rule)) == 1
    store.broken = {}
    assert run(store, 10, rule) == [("-", "resolved")]
    assert run(store, 11, rule) == []
    assert store.memory(rule.digest).by_fingerprint == {}


def test_only_alerts_that_go_on_are_in_error(store):
    store.count(at(0), SHOP, 20, refusal=0)
    store.count(at(0), {"app": "bank"}, 20, refusal=20)
    store.count(at(0), {"app": "zoo"}, 20, refusal=20)
    patient = a_rule(**{**_fields(BROKEN), "for_": timedelta(minutes=3)})
    run(store, 0.5, patient)
    store.count(at(0.6), {"app": "zoo"}, 200, refusal=0)
    assert run(store, 0.7, patient) == [("zoo", "inactive")]
    assert failing(store, ZeroDivisionError(), patient) == [("bank", "error"), ("-", "error")]  # and for all others


def test_a_failure_that_passes_changes_nothing(store):
    store.count(at(0), SHOP, 20, refusal=20)
    assert run(store, 0.5, BROKEN) == [("shop", "pending")]
    store.broken = {"refusal": ZeroDivisionError()}
    assert run(store, 1, BROKEN) == []
    store.broken = {}
    store.count(at(2), SHOP, 20, refusal=20)
    assert run(store, 2.5, BROKEN) == [("shop", "firing")]


def test_a_permanent_failure_affects_only_its_rule(store):
    store.count(at(0), SHOP, 20, negative=20)
    store.broken = {"refusal": Fatal("no privilege for it")}
    assert run(store, 1, BROKEN, AT_ONCE) == [("shop", "firing")]
    assert store.rounds[0].error == "no privilege for it"


def test_a_round_of_which_nothing_can_be_kept_says_so():
    class ReadOnly(MemoryAlertStore):
        def save(self, _done):
            raise Fatal("read-only")

    with pytest.raises(Fatal, match="read-only"):
        run(ReadOnly(), 1, AT_ONCE)


def test_a_round_that_was_not_saved_is_made_again(store):
    store.count(at(0), SHOP, 20, negative=20)
    store.out_of_reach = True
    with pytest.raises(Retriable):
        run(store, 1)
    store.out_of_reach = False
    assert run(store, 1.2) == [("shop", "firing")]
    assert len(store.history) == 1


# --- what is remembered ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally(Threshold):
    """A threshold that counts how often it has looked."""

    name: ClassVar[str] = "tally"

    def observe(self, counts, *, signal, bound, memory: Mapping[str, Any] | None, now):
        found, _ = Threshold.observe(self, counts, signal=signal, bound=bound, memory=memory, now=now)
        return found, {"looks": memory["looks"] + 1 if memory else 1}


def test_each_set_of_labels_has_a_memory_until_it_is_silent_for_a_day(store):
    rule = a_rule(method=Tally(above=parse_target(0.3)))
    store.count(at(0), SHOP, 20, negative=0)
    for minute in (1, 2, 3):
        run(store, minute, rule)
    (its,) = store.memory(rule.digest).by_fingerprint.values()
    assert (its.labels, its.memory, its.seen_at) == ({"app": "shop"}, {"looks": 3}, at(1))
    assert store.memory(rule.digest).until == at(3)
    run(store, 24 * 60, rule)
    assert len(store.memory(rule.digest).by_fingerprint) == 1
    run(store, 24 * 60 + 2, rule)
    assert store.memory(rule.digest).by_fingerprint == {}


def test_an_alert_long_over_is_no_reason_to_remember(store):
    store.count(at(0), SHOP, 20, negative=20)
    store.count(at(6), SHOP, 20, negative=0)
    run(store, 1)
    assert run(store, 7) == [("shop", "resolved")]
    run(store, 24 * 60 + 20)
    assert store.memory(AT_ONCE.digest).by_fingerprint == {}


# --- what is usual ---


LEARNT = a_rule(for_=timedelta(), method=a_method(above=parse_target("baseline + 10pp")))


def a_past(store, hours, *, negative, app="shop"):
    for hour in range(1, hours + 1):
        store.count(at(-60 * hour), {"app": app}, 100, negative=negative)


def test_until_something_is_learnt_nothing_fires(store):
    store.count(at(0), SHOP, 100, negative=100)
    assert run(store, 1, LEARNT) == []
    a_past(store, 48, negative=10)
    assert run(store, 2, LEARNT) == []  # it is learnt once an hour
    store.count(at(60), SHOP, 100, negative=100)
    assert run(store, 61, LEARNT) == [("shop", "firing")]
    assert 0.2 < store.alerts()[0].bound < 0.3


def test_each_set_of_labels_has_its_own_baseline(store):
    a_past(store, 48, negative=10)
    a_past(store, 48, negative=60, app="bank")
    for app in ("shop", "bank"):
        store.count(at(0), {"app": app}, 100, negative=50)
    assert run(store, 1, LEARNT) == [("shop", "firing")]
    rates = {its.labels["app"]: its.baseline.rate for its in store.memory(LEARNT.digest).by_fingerprint.values()}
    assert rates == {"shop": pytest.approx(0.1), "bank": pytest.approx(0.6)}


def test_hours_of_incidents_are_not_usual(store):
    a_past(store, 48, negative=10)
    for minute in range(0, 12 * 60, 10):
        store.count(at(minute), SHOP, 100, negative=90)
        run(store, minute + 1, LEARNT)
    assert [change.alert.state for change in store.history] == [State.FIRING]
    (its,) = store.memory(LEARNT.digest).by_fingerprint.values()
    assert its.baseline.learnt_at > at(11 * 60)
    assert its.baseline.rate == pytest.approx(0.1)


def test_what_is_usual_is_kept_over_a_weekend(store):
    a_past(store, 48, negative=10)
    store.count(at(0), SHOP, 100, negative=10)
    run(store, 1, LEARNT)
    for hour in range(1, 72):
        run(store, 60 * hour, LEARNT)
    monday = 60 * 72
    store.count(at(monday), SHOP, 100, negative=50)
    assert run(store, monday + 1, LEARNT) == [("shop", "firing")]


def test_bets_are_kept_from_round_to_round(store):
    rule = a_rule(for_=timedelta(), method=Sequential(target=parse_target(0.1)))
    fired = []
    for minute in range(120):
        store.count(at(minute), SHOP, 10, negative=3 if minute > 20 else 1)
        fired += run(store, minute + 0.9, rule)
    assert fired == [("shop", "firing")]
