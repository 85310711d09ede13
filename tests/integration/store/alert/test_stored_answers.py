"""Stored answers as rules on ranks would have read them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.signal import RANKED, Signal, SignalKind
from monitor.alert.window import Span
from monitor.core.model import Verdict
from monitor.store.alert.new_answers import COLLECTED, MOST_TURNS
from monitor.store.alert.stored_answers import stored_answers
from tests.factories.answers import NOON, a_batch, an_assessment, at
from tests.rig.store.new_answers import PatientList

DAYS = Span(start=NOON - timedelta(days=3), end=NOON + timedelta(days=1))


def signal(name):
    return Signal(kind=SignalKind.RANKS, name=name)


def answered(number, minute=0.0, **over):
    return an_assessment(**{"id": f"q-{number}", "question": f"q {number}?", "occurred_at": at(minute), **over})


@pytest.mark.parametrize("name", RANKED)
def test_they_are_those_of_the_list(engine, writer, name):
    refusal = answered(2, 2, answer="I do not know.", verdict=Verdict.REFUSAL, tags={"topic": "billing"})
    writer.write(a_batch(answered(1, 1), refusal, answered(3, 3, model="m")))
    listing = PatientList(engine)
    listing.fill(NOON)
    listed = listing.read(signal(name), {}, after=None, most=100).answers

    def same(answers):
        return sorted((a.at, tuple(a.labels.items()), a.topic, a.value, a.chance) for a in answers)

    assert same(stored_answers(engine, signal(name), {}, DAYS)) == same(listed)


def test_days_are_read_in_order_within_the_span_and_the_selection(engine, writer):
    writer.write(a_batch(*(answered(i, -60 * 20 * i) for i in range(6)), answered(9, app="bank")))
    found = stored_answers(engine, signal("score"), {"app": ("support-bot",)}, DAYS)
    assert [answer.at for answer in found] == [at(-60 * 20 * i) for i in (3, 2, 1, 0)]


def test_repetitions_count_once_and_a_conversation_with_its_first_half_hour(engine, writer):
    talk = [answered(i, i, conversation_id="c") for i in range(40)]
    same = [answered(100 + i, 1, question="hi", answer="Hello!") for i in range(5)]
    writer.write(a_batch(*talk, *same))
    found = stored_answers(engine, signal("score"), {}, DAYS)
    assert len(found) == 1 + MOST_TURNS
    assert [answer.place for answer in found] == [0] + [1] * MOST_TURNS
    assert {answer.at for answer in found[1:]} == {NOON + COLLECTED}
