"""Reads the rows that explain an alert from a real server."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import pairwise

import pytest
from sqlalchemy import event

from monitor.alert.window import Span
from monitor.core.errors import Retriable
from monitor.core.model import Document, Reason, Verdict
from monitor.store.alert import explanations as changed
from monitor.store.alert.explanations import ExplanationRows, thin_slices
from monitor.store.tables.interactions import OTHER
from tests.factories.answers import NOON, PROBABLE, a_batch, an_assessment, at
from tests.factories.assess.diagnoses import a_diagnosis

WINDOW = Span(start=NOON, end=at(10))
BASELINE = Span(start=at(-600), end=NOON)


@pytest.fixture
def read(engine):
    def ask(selector=None, labels=None, signal="negative", *, window=WINDOW, baseline=BASELINE, **over):
        return ExplanationRows(engine).read(selector or {}, labels or {}, signal, window, baseline, **over)

    return ask


def bad(id_, minutes=1, **over):
    return an_assessment(**{"id": id_, "occurred_at": at(minutes), "verdict": Verdict.SELF_GENERATED, **over})


def good(id_, minutes=1, **over):
    return an_assessment(**{"id": id_, "occurred_at": at(minutes), **over})


def ids(rows):
    return [row.id for row in rows]


def test_a_row_has_all_that_is_compared(writer, read):
    documents = (Document(id="d-1", text="One."), Document(id="d-2", text="Two."))
    tags = {"topic": "billing", "tier": "gold"}
    known = {"model": "m-1", "prompt_version": "v42", "tags": tags, "retrieved_documents": documents}
    writer.write(a_batch(bad("q-1", **known)))
    (row,), baseline = read()
    assert baseline == []
    assert (row.id, row.app, row.environment, row.occurred_at) == ("q-1", "support-bot", "production", at(1))
    assert (row.model, row.prompt_version, row.topic, row.tags) == ("m-1", "v42", "billing", {"tier": "gold"})
    assert row.documents == ("d-1", "d-2")
    assert (row.matches, row.verdict, row.reasons) == (True, "self_generated", ("answer_off_support",))
    assert row.probabilities == PROBABLE[Verdict.SELF_GENERATED]
    assert (row.qrd, row.embedding_model) == (
        pytest.approx(an_assessment().metrics.qrd),
        an_assessment().embedding_model,
    )
    assert row.question == "How long are deleted snapshots kept?"
    assert row.answer == "Deleted snapshots are kept for 30 days."


def test_answers_are_read_only_where_they_are_needed(writer, read):
    writer.write(a_batch(bad("b", 1), good("g", 2), bad("B", -2), good("G", -1)))
    window, baseline = read()
    assert all(row.question for row in (*window, *baseline))
    assert [row.id for row in (*window, *baseline) if row.answer is not None] == ["b"]


@pytest.mark.parametrize(
    ("signal", "matching"),
    [
        ("negative", {"r", "s"}),
        ("refusal", {"r"}),
        ("grounded", {"g"}),
        (Reason.ANSWER_OFF_SUPPORT.value, {"s"}),
        ("retrieval_missed", {"r"}),
        ("retrieval_noisy", {"g"}),
        ("generator_ignored", set()),
    ],
)
def test_a_row_matches_what_is_alerted_on(writer, read, signal, matching):
    missed, noisy = a_diagnosis("retrieval_missed"), a_diagnosis("retrieval_noisy")
    writer.write(a_batch(good("g", diagnosis=noisy), bad("r", verdict=Verdict.REFUSAL, diagnosis=missed), bad("s")))
    window, _ = read(signal=signal)
    assert {row.id for row in window if row.matches is True} == matching
    assert {row.id for row in window if row.matches is False} == {"g", "r", "s"} - matching
    assert {row.id: row.diagnosis for row in window} == {"g": "retrieval_noisy", "r": "retrieval_missed", "s": None}


def test_spans_end_before_their_end(writer, read):
    writer.write(a_batch(*(good(f"{minutes}", minutes) for minutes in (-601, -600, -1, 0, 9, 10))))
    window, baseline = read()
    assert (ids(window), ids(baseline)) == (["0", "9"], ["-600", "-1"])


def test_selector_and_labels_choose(writer, read):
    writer.write(
        a_batch(
            good("1", app="a", model="m"),
            good("2", app="a", environment="staging"),
            good("3", app="b", tags={"topic": "t"}),
            good("4", app="c"),
        )
    )
    assert ids(read({"app": ("a", "b")})[0]) == ["1", "2", "3"]
    assert ids(read({"app": ("a", "b")}, {"app": "b"})[0]) == ["3"]
    assert ids(read(labels={"environment": "staging"})[0]) == ["2"]
    assert ids(read(labels={"model": "m"})[0]) == ["1"]
    assert ids(read(labels={"model": "", "app": "a"})[0]) == ["2"]
    assert ids(read({"topic": ("t",)})[0]) == ["3"]


def test_what_the_rollup_does_not_tell_apart_is_not_told_apart_here(writer, read):
    writer.write(a_batch(good("1", model="m"), good("2", model="n")))
    assert ids(read(labels={"model": OTHER})[0]) == ["1", "2"]
    assert ids(read(labels={"app": OTHER})[0]) == []


def test_assessments_that_no_alert_counts_are_not_read(writer, read, rows):
    writer.write(a_batch(good("1"), good("2")))
    rows("UPDATE assessment SET live = false WHERE id = '2'")
    assert ids(read()[0]) == ["1"]


def test_a_large_side_is_sampled_evenly_and_always_alike(writer, read):
    busy = [bad(f"busy-{n}", -300 + n / 20, verdict=Verdict.REFUSAL) for n in range(3_000)]  # 20 a minute
    quiet = [good(f"quiet-{n}", -600 + n * 0.3) for n in range(1_000)]  # a third of that
    for first in range(0, 3_000, 500):
        writer.write(a_batch(*busy[first : first + 500]))
    for first in range(0, 1_000, 500):
        writer.write(a_batch(*quiet[first : first + 500]))
    _, baseline = read(most=800)
    assert 600 <= len(baseline) <= 800
    share = Counter(row.verdict for row in baseline)["refusal"] / len(baseline)
    assert share == pytest.approx(0.75, abs=0.06)
    assert read(most=800)[1] == baseline


def test_a_label_that_few_answers_have_is_found_in_all_of_the_span(writer, read):
    rare = [good(f"rare-{n}", n / 6, model="m9") for n in range(60)]
    writer.write(a_batch(*rare, *(good(f"q-{n}", n / 120, model="m1") for n in range(1_200))))
    window, _ = read(labels={"model": "m9"}, most=150)
    assert len(window) == 60
    assert ids(read(labels={"model": "m9"}, most=12)[0])[-1] > "rare-30"


def test_few_answers_in_a_long_span_are_all_read(writer, read):
    """The minutes that are read from the rollup hold next to none of the answers."""
    writer.write(a_batch(*(good(f"q-{n}", -1 - 150 * n) for n in range(20)), good("now", app="b")))
    month = Span(start=at(-40_000), end=NOON)
    assert len(read(baseline=month)[1]) == 20
    assert len(read({"app": ("support-bot",)}, baseline=month)[1]) == 20


def test_slices_are_thin_apart_and_inside():
    slices = thin_slices(BASELINE, 0.1)
    assert all(one.end <= other.start for one, other in pairwise(slices))
    assert BASELINE.start <= slices[0].start
    assert slices[-1].end <= BASELINE.end
    assert sum((one.length for one in slices), timedelta()) == pytest.approx(0.1 * BASELINE.length, rel=0.01)
    assert thin_slices(BASELINE, 1.5) == [BASELINE]


def test_a_statement_that_takes_too_long_is_given_up(engine, writer, monkeypatch):
    writer.write(a_batch(good("1")))
    monkeypatch.setattr(changed, "TIMEOUT_MS", 20)

    @event.listens_for(engine, "before_cursor_execute", retval=True)
    def slowed(_connection, _cursor, statement, parameters, _context, _many):
        # the timeout ends the sleep
        return statement.replace(
            "GROUP BY", ", pg_sleep(1) GROUP BY"
        ) if "GROUP BY" in statement else statement, parameters

    with pytest.raises(Retriable, match="statement timeout"):
        ExplanationRows(engine).read({}, {}, "negative", WINDOW, BASELINE)


def test_rows_are_found_by_indexes(engine, writer, rows):
    """With enough rows for the planner to care, neither table is read as a whole."""
    writer.write(a_batch(good("1")))
    rows("""
        INSERT INTO interaction (app, id, occurred_at, stored_at, environment, question, answer, retrieved_documents,
            tags, marks)
        SELECT 'support-bot', 'x-' || n, timestamptz '2025-11-21 12:00Z' - n * interval '1 second', now(), 'production',
            'q', 'a', '[]', '{}', '{}' FROM generate_series(1, 30000) n
    """)
    rows("""
        INSERT INTO assessment (app, id, profile_hash, occurred_at, profile_name, embedding_model, verdict,
            rule_verdict, reasons, refusal_kind, p_grounded, p_refusal, p_self_generated, uncalibrated, features,
            support)
        SELECT app, id, 'p', occurred_at, 'p', 'e', 'grounded', 'grounded', '{}', 'none', 1, 0, 0, true, '{}', '{}'
        FROM interaction WHERE id <> '1'
    """)
    rows("UPDATE verdict_minute SET total = 30000, minute = timestamptz '2025-11-21 12:00Z' - interval '10 hours'")
    rows("ANALYZE")
    plans = []

    @event.listens_for(engine, "before_cursor_execute")
    def explained(_connection, cursor, statement, parameters, *_):
        if "s.start" in statement:
            cursor.execute("EXPLAIN " + statement, parameters)
            plans.append("\n".join(line for (line,) in cursor.fetchall()))

    ExplanationRows(engine).read({}, {}, "negative", WINDOW, BASELINE)
    plan = plans[-1]
    assert "Seq Scan on assessment_2025_11" not in plan
    assert "Seq Scan on interaction_2025_11" not in plan
