"""Latency, tokens and cost in the rollups: what plain SQL counts, what rules read, what a revision takes out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.alert.signal import NAMES, Signal, SignalKind
from monitor.alert.window import Span, measured
from monitor.core.figures.latency import latency_bin
from monitor.core.model import TokenUsage
from monitor.store.alert.counts import SpanCounts
from monitor.store.interaction.minute_sums import USAGE_ADDED
from tests.factories.answers import NOON, an_assessment, at
from tests.rig.store.writing import write

tokens = st.none() | st.integers(0, 10**7)
used = st.builds(
    an_assessment,
    occurred_at=st.integers(0, 7_200).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    latency_ms=st.none() | st.floats(0, 1e308),
    usage=st.none() | st.builds(TokenUsage, input=tokens, output=tokens),
    cost=st.none() | st.floats(0, 1e9),
)
SUMS = ", ".join(f"sum({name})" for name in USAGE_ADDED)
BOTH = " UNION ALL ".join(
    f"SELECT {SUMS}, sum_bins(latency_bins) FROM {table}" for table in ("verdict_minute", "verdict_hour")
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answers=st.lists(used, min_size=1, max_size=8), taken_out=st.lists(used, min_size=1, max_size=8))
def test_what_is_taken_out_leaves_exactly_what_was_there(writer, rows, answers, taken_out):
    rows("TRUNCATE interaction_key, interaction, assessment, audit_secret, verdict_minute, verdict_hour")
    write(writer, *(replace(a, interaction=replace(a.interaction, id=f"q-{i}")) for i, a in enumerate(answers)))
    before = rows(BOTH)
    assert before[0] == before[1]
    for recounted in ({"before": [], "after": taken_out}, {"before": taken_out, "after": []}):
        with writer.transaction() as connection:
            writer.recount(connection, **recounted)
    left = [(*sums, [number for number in bins or () if number]) for *sums, bins in rows(BOTH)]
    assert left == [(*sums, [number for number in bins or () if number]) for *sums, bins in before]


def test_rules_read_what_the_writer_counted(writer, engine):
    """Over two hours, so that whole hours and single minutes are read."""
    seconds = [0.2, 0.4, 0.8, 1.6, 3.2]
    answers = [
        an_assessment(
            id=f"q-{number}",
            occurred_at=at(50 + 20 * number),
            latency_ms=1000 * second,
            usage=TokenUsage(input=100, output=10 * number),
            cost=0.001 * number,
        )
        for number, second in enumerate(seconds)
    ]
    write(writer, *answers, an_assessment(id="q-untold", occurred_at=at(70)))
    expected = {
        "mean": 1.24,
        "p50": 0.8,
        "p90": 3.2,
        "p95": 3.2,
        "p99": 3.2,
        "input": 100,
        "output": 20,
        "total": 120,
        "answer": 0.002,
        "spend": 0.01,
    }
    for kind in (SignalKind.LATENCY, SignalKind.TOKENS, SignalKind.COST):
        for name in NAMES[kind]:
            signal = Signal(kind=kind, name=name)
            (found,) = SpanCounts(engine).counts(signal, {}, ("app",), [Span(start=at(45), end=at(140))])
            (counted,) = found.counts
            assert counted.total == len(seconds), signal
            assert measured(signal, counted) == pytest.approx(expected[name], rel=0.05 if name[0] == "p" else 1e-9)
            assert bool(counted.bins) == (signal.percentile is not None)


def test_the_histogram_of_an_hour_is_that_of_its_minutes(writer, rows):
    write(writer, *(an_assessment(id=f"q-{n}", occurred_at=at(n), latency_ms=float(n)) for n in range(5)))
    ((bins,),) = rows("SELECT sum_bins(latency_bins) FROM verdict_hour")
    counted = Counter(latency_bin(float(number)) for number in range(5))
    assert bins == [counted[place] for place in range(max(counted) + 1)]


def test_the_release_before_still_writes(writer, rows):
    """It names its own columns; what it leaves out counts as not told."""
    write(writer, an_assessment(id="q-1", latency_ms=1000.0))
    rows("""
        INSERT INTO verdict_minute AS v (minute, app, environment, model, topic, total,
            grounded, refusal, self_generated, support_off_question, support_not_retrieved, answer_off_support,
            retrieval_off_question, answer_off_question, no_documents, no_support, empty_answer, refusal_wording,
            sdq_count, sdrd_count, sda_count, qrd_count, qa_count, sdq_sum, sdrd_sum, sda_sum, qrd_sum, qa_sum,
            sdq_bins, sdrd_bins, sda_bins, qrd_bins, qa_bins)
        SELECT minute, app, environment, model, topic, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, sdq_bins, sdrd_bins, sda_bins, qrd_bins, qa_bins FROM verdict_minute
        ON CONFLICT (minute, app, environment, model, topic) DO UPDATE SET total = v.total + excluded.total
        RETURNING total
    """)
    assert rows("SELECT total, latency_count FROM verdict_minute") == [(2, 1)]


def test_the_cost_is_stored_with_the_interaction(writer, rows):
    write(writer, an_assessment(id="q-1", cost=0.00042), an_assessment(id="q-2"))
    assert rows("SELECT id, cost FROM interaction ORDER BY id") == [("q-1", 0.00042), ("q-2", None)]
