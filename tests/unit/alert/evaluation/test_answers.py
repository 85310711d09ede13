"""Rules on single answers and on labelled periods, from the store to the alert."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest

from monitor.alert.answers import ListedAnswer, by_source, chance_of
from monitor.alert.evaluation import reading
from monitor.alert.evaluation.evaluate import evaluate, evaluate_rule
from monitor.alert.labelled import LabelledRate
from monitor.alert.methods.rate import Rate
from monitor.alert.methods.shift import Shift
from monitor.alert.methods.threshold import Threshold
from monitor.alert.methods.watch import Watch
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import parse_target
from monitor.core.errors import Retriable
from monitor.simulate.fakes.alerts import MemoryAlertStore
from tests.factories.alert.alerts import a_rule
from tests.factories.alert.notifications import at

SCORE = Signal(kind=SignalKind.RANKS, name="score")
TRUE = Signal(kind=SignalKind.TRUE_RATE, name="self_generated")
CHANGED = a_rule(name="changed", signal=SCORE, method=Shift(), by=("app", "model"), for_=timedelta())


def answers(number, *, first=1, bad=False, seed=1, app="shop", model="m", minute=0.0):
    chance = random.Random(seed)
    return [
        ListedAnswer(
            place=first + i,
            labels={"app": app, "environment": "", "model": model, "topic": ""},
            topic="",
            at=at(minute),
            value=chance.uniform(0.7, 0.99) if bad else chance.uniform(0.01, 0.8),
            chance=chance.random(),
        )
        for i in range(number)
    ]


@pytest.fixture
def store():
    return MemoryAlertStore()


def run(store, minute, rule=CHANGED):
    return [
        (change.alert.labels.get("app"), change.alert.state.value)
        for change in evaluate([rule], store, at(minute), ("memory",))
    ]


def known(store, rule=CHANGED):
    (series,) = store.memory(rule.digest).by_fingerprint.values()
    return Watch.from_json(series.memory)


def test_from_answers_to_firing_and_back(store):
    store.arrived += answers(2_000)
    assert run(store, 0) == []
    store.arrived += answers(90, first=2_001, bad=True, seed=2, minute=100)
    assert run(store, 100) == [("shop", "firing")]
    (alert,) = store.alerts()
    assert (alert.method, alert.bound, alert.unit) == ("shift", 0.1, "share")
    assert alert.labels["model"] == "m"
    store.arrived += answers(3_000, first=2_091, seed=3)
    assert run(store, 200) == [("shop", "resolved")]


def test_a_round_reads_a_bounded_number_and_each_answer_once(store, monkeypatch):
    monkeypatch.setattr(reading, "MOST_ANSWERS", 100)
    store.arrived += answers(250)
    units = []
    for minute in range(5):
        run(store, minute)
        units.append(known(store).units)
    assert units == [100, 200, 250, 250, 250]


def test_after_a_round_that_was_not_saved_nothing_is_lost_or_counted_twice(store):
    store.arrived += answers(100)
    store.list_new_answers(at(0))
    evaluate_rule(CHANGED, store, store.memory(CHANGED.digest), {}, at(0))  # killed before it was saved
    run(store, 1)
    run(store, 2)
    assert known(store).units == 100


def test_a_list_that_cannot_be_filled_stops_no_rule(store, monkeypatch):
    def out_of_reach(_now):
        raise Retriable("busy")

    store.listed += answers(10)
    monkeypatch.setattr(MemoryAlertStore, "list_new_answers", lambda _self, now: out_of_reach(now))
    run(store, 0)
    assert known(store).units == 10


def test_sources_without_end_share_one_history():
    found = answers(5, app="a") + answers(5, app="b") + answers(5, app="c") + answers(5, app="d")
    batches = by_source(found, ("app", "model"), "score", known={("b", "m")}, most=2)
    assert {source: len(batch) for source, batch in batches.items()} == {
        ("a", "m"): 5,
        ("b", "m"): 5,
        ("other", "other"): 10,
    }


def test_a_conversation_is_one_unit_in_each_source_it_is_in():
    one, two, three = (answers(1, first=7, model=model)[0] for model in ("m", "m", "n"))
    alone = answers(1, first=8)[0]
    batches = by_source([one, two, three, alone], ("model",), "score", known=(), most=10)
    assert batches["m",].units.tolist() == [0, 0, 1]
    assert batches["m",].weights.tolist() == [0.5, 0.5, 1]
    assert batches["n",].weights.tolist() == [1]


def test_the_chance_of_an_answer_follows_from_its_identity():
    assert chance_of("shop", "1") == chance_of("shop", "1") != chance_of("shop", "2")
    assert all(0 <= chance_of("shop", str(i)) < 1 for i in range(100))


def test_the_newest_true_rate_of_each_app_is_watched(store):
    rule = a_rule(name="true", signal=TRUE, method=Rate(above=0.05), by=("app",), for_=timedelta())
    store.true_rates["self_generated"] = [
        LabelledRate(
            app=app, plan="1", since=at(-10_000), until=at(-10), labels=100, estimate=0.1, lower=lower, upper=0.2
        )
        for app, lower in (("bank", 0.02), ("shop", 0.06))
    ]
    assert run(store, 0, rule) == [("shop", "firing")]
    assert run(store, 0, a_rule(name="one", signal=TRUE, method=Rate(above=0.05), by=(), for_=timedelta())) == [
        (None, "firing")
    ]


def test_a_line_above_the_usual_level_is_held_until_a_baseline_is_known(store):
    line = Threshold(above=parse_target("max(0.30, baseline + 15pp)"))
    rule = a_rule(method=line, for_=timedelta())
    store.count(at(0), {"app": "shop"}, 30, negative=30)
    assert run(store, 1, rule) == []
    for hour in range(1, 25):
        store.count(at(-60 * hour), {"app": "shop"}, 100, negative=20)
    assert run(store, 62, rule) == []
    store.count(at(61), {"app": "shop"}, 200, negative=150)
    assert run(store, 62.5, rule) == [("shop", "firing")]
    (alert,) = store.alerts()
    assert 0.35 < alert.bound < 0.5  # a fifth is usual
