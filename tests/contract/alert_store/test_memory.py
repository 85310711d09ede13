"""What every `AlertStore` remembers about a rule."""

from __future__ import annotations

from dataclasses import replace

from monitor.alert.evaluation.memory import RuleMemory, SeriesMemory
from monitor.alert.target import Baseline
from tests.factories.alert.stored_alerts import DIGEST, SHOP, save
from tests.factories.answers import at

BASELINE = Baseline(rate=0.1, lower=0.05, upper=0.3, samples=2**40, hours=600, learnt_at=at(-7.1))
BANK = SeriesMemory(
    labels={"app": "bank", "topic": ""},
    seen_at=at(2),
    memory={"log_wealth": [0.1, -745.25, 1e-12, 12.0], "firing": True, "seen": [[1, 2, 3]], "nested": {"none": None}},
    baseline=BASELINE,
)


def test_what_is_remembered_comes_back(store):
    memory = RuleMemory(until=at(5.5), learnt_at=at(4))
    save(store, memory=memory, remembered={"f1": SHOP, "f2": BANK})
    assert store.memory(DIGEST) == replace(memory, by_fingerprint={"f1": SHOP, "f2": BANK})
    assert store.memory("another") == RuleMemory()


def test_only_what_changed_is_given_and_the_rest_stays(store):
    save(store, remembered={"f1": SHOP, "f2": BANK})
    changed = replace(SHOP, seen_at=at(9), memory={"x": 1})
    save(store, memory=RuleMemory(until=at(9)), remembered={"f1": changed})
    assert store.memory(DIGEST) == RuleMemory(until=at(9), by_fingerprint={"f1": changed, "f2": BANK})
    save(store, remembered={"f1": replace(changed, memory=None)}, forgotten=("f2", "never there"))
    assert store.memory(DIGEST).by_fingerprint == {"f1": replace(changed, memory=None)}


def test_since_when_a_rule_fails_is_known_until_it_does_not(store):
    save(store, minute=1, error="ZeroDivisionError")
    save(store, minute=2, error="Retriable")
    assert store.memory(DIGEST).failing_since == at(1)
    save(store, minute=3)
    assert store.memory(DIGEST).failing_since is None
    save(store, minute=4, error="ZeroDivisionError")
    assert store.memory(DIGEST).failing_since == at(4)
