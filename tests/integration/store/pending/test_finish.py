"""The results of pending work are stored once, under a valid claim."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import psycopg
import pytest

from monitor.core.errors import Fatal, Retriable
from monitor.core.model import Metrics
from monitor.core.pending import Work
from monitor.store.interaction.follow_ups import enqueue
from monitor.store.pending.finish import finish_assessed, finish_judged, finish_revised
from tests.factories.answers import (
    A_STAND_IN,
    FROM_THE_SIDECAR,
    NOON,
    a_batch,
    a_judgement,
    an_assessment,
    at,
)
from tests.rig.store.pending_work import (
    EVERY_KIND,
    LATER,
    LEASE,
    TOPIC,
    Reader,
    assessed,
    claim,
    ids,
    in_balance,
    set_aside,
    the_queue,
)


def judged(claims, *judgements):
    return [(c, judgements or (a_judgement(),)) for c in claims]


def test_what_is_finished_under_a_lapsed_claim_is_not_stored(writer, queue, engine, rows):
    """The first worker comes back after another has taken its work, and after that one has finished it."""
    reader = Reader(writer)
    reader.write(pending=["p"], assessed=["a"])
    first, second = claim(queue, now=NOON), claim(queue, now=LATER)
    assert Counter(c.kind for c in first) == Counter(c.kind for c in second) == dict.fromkeys(EVERY_KIND, 1)
    of_first, of_second = ({c.kind: [c] for c in claims} for claims in (first, second))

    def finish(claims, score):
        metrics = Metrics(sdq=score, sdrd=score, sda=score, qrd=score, qa=score)
        finish_assessed(writer, assessed(claims[Work.ASSESS], metrics=metrics))
        assert finish_revised(writer, assessed(claims[Work.SIDECAR], metrics=metrics), LATER) == []
        finish_judged(writer, judged(claims[Work.JUDGE], a_judgement(model=str(score))), LATER)

    def stored():
        return rows("SELECT id, qa, revised_at FROM assessment ORDER BY id"), rows("SELECT model FROM judgement")

    before = stored()
    finish(of_first, 0.5)
    assert stored() == before
    assert len(the_queue(rows)) == 3
    assert in_balance(engine) == {("monitor", TOPIC, 0): (2, 1, 0, 0, 1)}
    finish(of_second, 0.25)
    after = stored()
    assert after == ([("a", 0.25, LATER), ("p", 0.25, None)], [("0.25",)])
    finish(of_first, 0.5)
    finish(of_second, 0.5)
    assert stored() == after
    assert the_queue(rows) == [("judge", "p")]  # which the first assessment of p has queued
    assert in_balance(engine) == {("monitor", TOPIC, 0): (2, 2, 0, 0, 0)}
    assert rows("SELECT sum(total)::integer, sum(qa_sum) FROM verdict_minute") == [(2, 0.5)]


def test_a_claim_that_has_lapsed_but_that_nobody_took_is_still_ones_own(writer, queue, rows):
    set_aside(writer, "a")
    (mine,) = claim(queue)
    rows("UPDATE pending SET not_before = %s", at(-100))
    assert finish_assessed(writer, assessed([mine])) == 1


def test_what_failed_under_a_lapsed_claim_changes_nothing_of_the_next_one(writer, queue, rows):
    set_aside(writer, "a")
    late, now_ours = claim(queue), claim(queue, now=LATER)
    queue.failed(late, "too late", None)
    queue.lease(late, NOON)
    assert rows("SELECT given_up, last_error, attempts, claim IS NULL, not_before FROM pending") == [
        (False, None, 2, False, LATER + LEASE)
    ]
    queue.lease(now_ours, LATER)
    assert ids(claim(queue, now=LATER)) == ["a"]


def test_one_that_finishes_while_another_claims_is_not_claimed(writer, queue, monkeypatch):
    """A lapsed claim is finished in a transaction that is still open when another worker looks for work."""
    set_aside(writer, "a")
    mine, seen = claim(queue), []
    add = writer.add

    def look(connection, assessments):
        seen.append(claim(queue, now=LATER))
        add(connection, assessments)

    monkeypatch.setattr(writer, "add", look)
    assert finish_assessed(writer, assessed(mine)) == 1
    assert seen == [[]]
    assert [c.kind for c in claim(queue, now=LATER)] == [Work.JUDGE]


def test_a_finish_whose_commit_was_not_heard_of_stores_nothing_twice(writer, queue, engine, rows):
    Reader(writer).write(pending=["a"])
    done = assessed(claim(queue))
    transaction = writer.transaction

    def lost():
        writer.transaction = transaction
        finish_assessed(writer, done)
        raise Retriable("the server closed the connection")

    writer.transaction = lost
    with pytest.raises(Retriable):
        finish_assessed(writer, done)
    assert finish_assessed(writer, done) == 0
    assert in_balance(engine) == {("monitor", TOPIC, 0): (1, 1, 0, 0, 0)}
    assert rows("SELECT sum(total)::integer FROM verdict_minute") == [(1,)]


@pytest.mark.parametrize("table", ["pending", "consumer_offset", "assessment", "verdict_minute"])
def test_a_finish_that_fails_anywhere_stores_nothing(writer, queue, engine, rows, table):
    Reader(writer).write(pending=["a"])
    done = assessed(claim(queue))
    rows(f"ALTER TABLE {table} RENAME TO hidden")
    with pytest.raises(Fatal):
        finish_assessed(writer, done)
    rows(f"ALTER TABLE hidden RENAME TO {table}")
    assert in_balance(engine) == {("monitor", TOPIC, 0): (1, 0, 0, 0, 1)}
    assert the_queue(rows) == [("assess", "a")]
    assert finish_assessed(writer, done) == 1


def test_nothing_to_finish_is_no_error(writer):
    assert finish_assessed(writer, []) == 0
    assert finish_revised(writer, [], NOON) == []
    finish_judged(writer, [], NOON)


def test_what_was_judged_is_not_queued_again(database, writer, queue, rows):
    writer.write(a_batch(an_assessment(id="a", support=A_STAND_IN), an_assessment(id="b", support=A_STAND_IN)))
    by_kind = {kind: [c for c in claim(queue, kind) if c.interaction.id == "a"] for kind in (Work.JUDGE, Work.SIDECAR)}
    finish_judged(writer, judged(by_kind[Work.JUDGE]), NOON)
    finish_revised(writer, assessed(by_kind[Work.SIDECAR], support=FROM_THE_SIDECAR), NOON)
    assert the_queue(rows) == [("judge", "b"), ("sidecar", "b")]
    with psycopg.connect(database) as connection:
        enqueue(connection, "monitor", NOON, [(kind, by_kind[Work.JUDGE][0].interaction) for kind in EVERY_KIND])
    assert the_queue(rows) == [("assess", "a"), ("judge", "b"), ("sidecar", "a"), ("sidecar", "b")]


def test_a_judgement_is_stored_with_all_that_belongs_to_it(writer, queue, rows):
    moment = NOON.replace(year=2031, month=3)
    writer.write(a_batch(an_assessment(occurred_at=moment)))
    (mine,) = claim(queue)
    without = replace(a_judgement().outcome, score=None, reason="no_statements", parts={"why": 'a "b" \\ü'})
    finish_judged(
        writer,
        judged([mine], a_judgement(), a_judgement(metric="context_recall", outcome=without, prompt_hash="")),
        NOON,
    )
    assert rows(
        "SELECT app, id, occurred_at, metric, model, prompt_hash, mode, score, reason, parts, calls, input_tokens,"
        " output_tokens, cost, judged_at, tableoid::regclass::text FROM judgement ORDER BY metric DESC"
    ) == [
        (
            "support-bot",
            "q-1",
            moment,
            "faithfulness",
            "gpt-test",
            "0123456789abcdef",
            "separate",
            0.5,
            None,
            {"statements": []},
            2,
            100,
            10,
            0.25,
            NOON,
            "judgement_2031_03",
        ),
        (
            "support-bot",
            "q-1",
            moment,
            "context_recall",
            "gpt-test",
            "",
            "separate",
            None,
            "no_statements",
            {"why": 'a "b" \\ü'},
            2,
            100,
            10,
            0.25,
            NOON,
            "judgement_2031_03",
        ),
    ]
