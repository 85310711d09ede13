"""What every `AlertStore` promises of alerts: none can be saved twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from monitor.alert.evaluation.memory import RuleMemory
from monitor.alert.state import State
from monitor.core.errors import Retriable
from monitor.store.alert.responses import PostgresResponses
from tests.factories.alert.stored_alerts import DIGEST, FIRING, PENDING, SHOP, change, save
from tests.factories.answers import at

INFINITE = float("inf")


@pytest.fixture
def acknowledge(backend, store, request):
    """What a person does meanwhile."""

    def in_postgres(alert):
        PostgresResponses(request.getfixturevalue("engine")).acknowledge([alert], by="ada", now=at(3))

    def in_memory(alert):
        store.acknowledge(alert.fingerprint, by="ada", now=at(3))

    return in_memory if backend == "memory" else in_postgres


ENDING = replace(FIRING, normal_since=at(8), detail="burn rate 3", lower=-INFINITE, upper=INFINITE)
RESOLVED = replace(FIRING, state=State.RESOLVED, resolved_at=at(9), value=0.1, note="gone", below=True, unit="seconds")
SELECTED = replace(FIRING, selector={"environment": ("production", "staging")}, by=("app", "model"))
EVERYTHING = replace(FIRING, selector={}, by=())
AGAIN = replace(PENDING, episode="e2", active_since=at(20))


def test_no_alert_is_stored_at_first(store):
    assert store.alerts() == []
    assert store.memory(DIGEST) == RuleMemory()


@pytest.mark.parametrize(
    "alert",
    [PENDING, FIRING, ENDING, RESOLVED, SELECTED, EVERYTHING],
    ids=["pending", "firing", "ending", "resolved", "selected", "everything"],
)
def test_every_field_of_an_alert_comes_back(store, alert):
    save(store, change(None, alert))
    assert store.alerts() == [alert]


def test_an_alert_without_a_value_comes_back_without_one(store):
    alert = replace(PENDING, value=None, samples=0, lower=0.0, upper=1.0, labels={}, annotations={})
    save(store, change(None, alert))
    assert store.alerts() == [alert]


def test_an_alert_lives_under_its_fingerprint_from_pending_to_the_next_episode(store):
    before = None
    for after in (PENDING, FIRING, ENDING, RESOLVED, AGAIN):
        save(store, change(before, after))
        assert store.alerts() == [after]
        before = after


def test_an_alert_that_went_back_to_inactive_is_not_listed_and_may_begin_anew(store):
    save(store, change(None, PENDING))
    save(store, change(PENDING, replace(PENDING, state=State.INACTIVE)))
    assert store.alerts() == []
    save(store, change(None, AGAIN))
    assert store.alerts() == [AGAIN]


def test_a_resolved_alert_that_was_not_listed_any_more_may_begin_anew(store):
    save(store, change(None, replace(RESOLVED, acknowledged_by="ada", acknowledged_at=at(5))))
    save(store, change(None, AGAIN, 200))
    assert store.alerts() == [AGAIN]
    with pytest.raises(Retriable, match="another evaluator"):
        save(store, change(RESOLVED, AGAIN))


def test_alerts_of_other_fingerprints_stand_beside_each_other(store):
    other = replace(PENDING, fingerprint="0" * 32, labels={"app": "b"})
    save(store, change(None, PENDING), change(None, other))
    save(store, change(PENDING, FIRING))
    assert sorted(store.alerts(), key=lambda a: a.fingerprint) == [other, FIRING]


@pytest.mark.parametrize(
    ("stored", "previous"),
    [
        (PENDING, None),  # another began it
        (FIRING, PENDING),  # another fired it
        (RESOLVED, FIRING),  # another resolved it
        (AGAIN, replace(AGAIN, episode="e1")),  # another episode in the same state
        (None, PENDING),  # never stored
        (replace(PENDING, state=State.INACTIVE), PENDING),  # another ended it
    ],
    ids=["begun", "fired", "resolved", "another episode", "never stored", "ended"],
)
def test_a_change_of_what_is_not_so_any_more_is_refused_with_everything_saved_beside_it(store, stored, previous):
    if stored is not None:
        save(store, change(None, stored))
    before, beside = store.alerts(), replace(PENDING, fingerprint="0" * 32)
    changed = change(previous, replace(PENDING, state=State.FIRING, fired_at=at(1), receivers=("console",)))
    memory = store.memory(DIGEST)
    with pytest.raises(Retriable, match="another evaluator"):
        save(store, change(None, beside), changed, memory=RuleMemory(until=at(5)), remembered={"f": SHOP})
    with pytest.raises(Retriable, match="another evaluator"):
        store.end([change(None, beside), changed], [])
    assert store.alerts() == before
    assert store.memory(DIGEST) == memory


def test_an_acknowledgement_since_it_was_read_stays_with_its_episode(store, acknowledge):
    save(store, change(None, FIRING))
    acknowledge(FIRING)
    save(store, change(FIRING, ENDING))
    (alert,) = store.alerts()
    assert alert == replace(ENDING, acknowledged_by="ada", acknowledged_at=at(3))
    save(store, change(alert, replace(RESOLVED, acknowledged_by="ada", acknowledged_at=at(3))))
    save(store, change(store.alerts()[0], AGAIN))
    assert store.alerts() == [AGAIN]


def test_the_end_of_an_alert_whose_rule_is_gone_forgets_the_rule(store):
    save(store, change(None, FIRING), memory=RuleMemory(until=at(1)), remembered={"f": SHOP})
    store.end([change(FIRING, RESOLVED, 5)], [DIGEST])
    assert store.alerts() == [RESOLVED]
    assert store.memory(DIGEST) == RuleMemory()
    store.end([], [])


def spans(store, since=-1000.0, digest=DIGEST):
    found = store.active_spans(digest, at(since))
    return {identity: [(span.start, span.end) for span in its] for identity, its in found.items()}


def test_it_is_known_when_alerts_were_active(store):
    other = replace(FIRING, fingerprint="0" * 32)
    elsewhere = replace(FIRING, fingerprint="9" * 32, rule_digest="another")
    save(store, change(None, PENDING, 0), change(None, other, 1), change(None, elsewhere, 1))
    save(store, change(PENDING, FIRING, 2))
    save(store, change(FIRING, ENDING, 3))  # no change of state
    save(store, change(ENDING, replace(ENDING, state=State.NO_DATA), 5))
    save(store, change(replace(ENDING, state=State.NO_DATA), RESOLVED, 9))
    assert spans(store) == {
        FIRING.fingerprint: [(at(2), at(5)), (at(5), at(9))],
        other.fingerprint: [(at(1), datetime.max.replace(tzinfo=UTC))],
    }
    assert list(spans(store, since=9)) == [other.fingerprint]
    assert spans(store, since=5)[FIRING.fingerprint] == [(at(5), at(9))]
    assert list(spans(store, digest="another")) == [elsewhere.fingerprint]
    assert spans(store, digest="nobody") == {}
