"""What is usual in an app comes from the chunks of its own newest answers."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.assess.threshold import WEIGHT, Spread
from monitor.core.model import Verdict
from monitor.store.reference import usual_relevance
from monitor.store.reference.usual_relevance import UsualRelevance
from tests.factories.answers import NOON, a_batch, an_assessment
from tests.factories.assess.diagnoses import a_chunk, a_diagnosis

OTHERWISE = Spread(mean=0.5, sd=0.1)


def answered(number, *relevances, app="shop", verdict=Verdict.GROUNDED):
    chunks = tuple(a_chunk(start=at, end=at + 1, relevance=each) for at, each in enumerate(relevances))
    return an_assessment(
        id=f"q-{number}",
        app=app,
        verdict=verdict,
        occurred_at=NOON + timedelta(minutes=number),
        diagnosis=a_diagnosis(chunks=chunks),
    )


def test_an_app_without_diagnosed_answers_has_what_is_usual_otherwise(engine, writer):
    writer.write(a_batch(an_assessment(app="shop"), answered(1, 0.9, app="other")))
    assert UsualRelevance(engine).of("shop", OTHERWISE) == OTHERWISE


def test_mean_and_deviation_are_of_all_its_chunks_drawn_to_what_is_usual_otherwise(engine, writer):
    writer.write(a_batch(answered(1, 0.2, 0.4), answered(2, 0.6), answered(3, app="shop")))
    found = UsualRelevance(engine).of("shop", OTHERWISE)
    assert found.mean == pytest.approx((3 * 0.4 + WEIGHT * 0.5) / (3 + WEIGHT))
    squares = 0.08 + WEIGHT * 0.01 + 3 * WEIGHT / (3 + WEIGHT) * 0.01
    assert found.sd == pytest.approx((squares / (3 + WEIGHT)) ** 0.5)


def test_only_the_newest_answers_count(engine, writer, monkeypatch):
    monkeypatch.setattr(usual_relevance, "ANSWERS", 2)
    writer.write(a_batch(answered(1, 0.0, 0.0, 0.0), answered(2, 0.8), answered(3, 0.8)))
    assert UsualRelevance(engine).of("shop", OTHERWISE).mean == pytest.approx((2 * 0.8 + WEIGHT * 0.5) / (2 + WEIGHT))


def test_the_answers_of_an_earlier_release_are_not_looked_through(engine, writer, rows, monkeypatch):
    monkeypatch.setattr(usual_relevance, "ANSWERS", 5)
    writer.write(a_batch(answered(1, 0.8), *(an_assessment(id=f"old-{n}", app="shop") for n in range(40))))
    rows("UPDATE assessment SET occurred_at = %s WHERE id LIKE 'old-%%'", NOON + timedelta(minutes=2))
    assert UsualRelevance(engine).of("shop", OTHERWISE) == OTHERWISE  # the one that is diagnosed is not among the five


@pytest.mark.parametrize("verdict", [Verdict.REFUSAL, Verdict.SELF_GENERATED])
def test_what_a_broken_retriever_brings_does_not_become_usual(engine, writer, verdict):
    writer.write(a_batch(answered(1, 0.8), *(answered(n, 0.1, 0.1, verdict=verdict) for n in range(2, 9))))
    assert UsualRelevance(engine).of("shop", OTHERWISE).mean == pytest.approx((0.8 + WEIGHT * 0.5) / (1 + WEIGHT))
