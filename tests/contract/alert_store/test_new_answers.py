"""Reading the list of new answers, as rules on ranks do."""

from __future__ import annotations

import pytest

from monitor.alert.answers import ListedAnswer
from monitor.alert.evaluation.memory import Round, RuleMemory
from monitor.alert.signal import Signal, SignalKind
from tests.factories.answers import NOON, a_batch, an_assessment

SCORE = Signal(kind=SignalKind.RANKS, name="score")


@pytest.fixture
def answered(backend, store, request):
    """Stores answers of an app, as many as asked for, which the store has not listed yet."""
    stored = []

    def in_memory(app, number):
        for _ in range(number):
            stored.append(app)
            labels = {"app": app, "environment": "", "model": "", "topic": ""}
            store.arrived.append(
                ListedAnswer(place=len(stored), labels=labels, topic="", at=NOON, value=0.125, chance=0.5)
            )

    def in_postgres(app, number):
        first = len(stored)
        stored.extend([app] * number)
        batch = (an_assessment(id=f"q-{i}", app=app, question=f"question {i}?") for i in range(first, first + number))
        request.getfixturevalue("writer").write(a_batch(*batch))

    return in_memory if backend == "memory" else in_postgres


def test_nothing_is_new_before_it_is_listed(store, answered):
    answered("shop", 2)
    assert store.new_answers(SCORE, {}, after=None, most=100).answers in ([], ())
    store.list_new_answers(NOON)
    found = store.new_answers(SCORE, {}, after=None, most=100)
    assert [answer.value for answer in found.answers] == [0.125, 0.125]


def test_the_last_place_is_where_the_next_reading_goes_on(store, answered):
    answered("shop", 3)
    store.list_new_answers(NOON)
    through = store.new_answers(SCORE, {}, after=None, most=100).through
    again = store.new_answers(SCORE, {}, after=through, most=100)
    assert (list(again.answers), again.through) == ([], through)
    answered("shop", 1)
    store.list_new_answers(NOON)
    assert len(store.new_answers(SCORE, {}, after=through, most=100).answers) == 1


def test_a_selector_passes_over_the_others(store, answered):
    answered("shop", 2)
    answered("bank", 1)
    store.list_new_answers(NOON)
    found = store.new_answers(SCORE, {"app": ("bank",)}, after=None, most=100)
    assert [answer.labels["app"] for answer in found.answers] == ["bank"]
    assert store.new_answers(SCORE, {"app": ("bank",)}, after=found.through, most=100).answers in ([], ())


def test_a_bounded_number_is_read_in_the_order_of_places(store, answered):
    answered("shop", 90)
    store.list_new_answers(NOON)
    places, after = [], None
    while (found := store.new_answers(SCORE, {}, after=after, most=50)).answers:
        assert len(found.answers) <= 50
        places += [answer.place for answer in found.answers]
        after = found.through
    assert len(places) == 90
    assert places == sorted(set(places))


def test_the_place_is_part_of_a_rules_memory(store):
    store.save(Round(rule="r", rule_digest="d", at=NOON, memory=RuleMemory(until=NOON, place=7)))
    assert store.memory("d").place == 7
    assert store.memory("unknown").place is None


def test_without_labelled_periods_there_is_no_true_rate(store):
    assert store.labelled(Signal(kind=SignalKind.TRUE_RATE, name="refusal")) == []
