"""The queue of pending work on a real server: one worker at a time has a piece of work."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine, text

from monitor.app.pending.judging import case_of
from monitor.core.message import Position
from monitor.core.model import Refusal, RefusalKind, Verdict
from monitor.core.pending import Work
from monitor.store.interaction.follow_ups import enqueue
from monitor.store.pending.queue import CLAIM, LONGEST_WAIT, PendingQueue
from tests.factories.answers import (
    A_STAND_IN,
    NOON,
    a_batch,
    an_assessment,
    an_interaction,
    at,
)
from tests.factories.conversations import FOLLOW_UP, READ_AS, SAID, a_follow_up
from tests.factories.stored_interactions import stored_interactions
from tests.rig.store.pending_work import LATER, LEASE, TOPIC, claim, ids, set_aside
from tests.rig.store.writing import FAR


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    fields=stored_interactions,
    position=st.none() | st.builds(Position, topic=st.just(TOPIC), partition=st.just(3), offset=st.integers(0, 2**62)),
)
def test_an_interaction_comes_back_as_it_was(writer, queue, rows, fields, position):
    rows("TRUNCATE interaction_key, interaction, pending")
    fields = {**fields, "marks": fields["marks"] | FAR}  # any month would make a partition of its own
    written = an_interaction(**fields, position=position)
    writer.write(a_batch(pending=(written,), received=1))
    (found,) = claim(queue)
    assert found.interaction == written
    assert (found.kind, found.group, found.attempts, found.refuses) == (Work.ASSESS, "monitor", 1, False)


def test_each_kind_is_queued_once_for_an_interaction(database, writer, queue, rows):
    one, other = an_interaction(), an_interaction(app="other")
    writer.write(a_batch(pending=(one, other), received=2))
    wanted = [(kind, it) for it in (one, other, one) for kind in Work]
    for group in ("monitor", "another"):
        with psycopg.connect(database) as connection:
            enqueue(connection, group, LATER, wanted)
            enqueue(connection, group, LATER, wanted)
            enqueue(connection, group, LATER, [])
    assert sorted(rows("SELECT kind, app, group_id, queued_at FROM pending")) == sorted(
        (kind, app, "monitor", NOON if kind is Work.ASSESS else LATER)
        for kind in Work
        for app in ("support-bot", "other")
    )
    assert len(claim(queue, now=LATER)) == 6


def test_two_that_queue_the_same_at_once_queue_it_once(database, writer, rows):
    its = [an_interaction(id=str(n)) for n in range(50)]
    writer.write(a_batch(pending=tuple(its), received=50))
    meet = Barrier(2)

    def work(chance):
        with psycopg.connect(database) as connection:
            meet.wait()
            enqueue(connection, "monitor", NOON, [(Work.JUDGE, it) for it in sorted(its, key=lambda it: it.id)])
            chance.shuffle(its)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, [random.Random(1), random.Random(2)]))
    assert rows("SELECT count(*), count(DISTINCT interaction_id) FROM pending WHERE kind = 'judge'") == [(50, 50)]


def test_the_longest_due_is_taken_first(writer, queue, rows):
    set_aside(writer, *"abcde")
    for minutes, id_ in enumerate("dbeac"):
        rows("UPDATE pending SET not_before = %s WHERE interaction_id = %s", at(minutes), id_)
    assert ids(claim(queue, now=at(-1))) == []
    assert sorted(ids(claim(queue, now=at(4), most=2))) == ["b", "d"]
    assert sorted(ids(claim(queue, now=at(2), most=2))) == ["e"]
    assert sorted(ids(claim(queue, now=at(4), most=9))) == ["a", "c"]
    assert claim(queue, now=at(4)) == []


def test_work_does_not_wait_for_a_clock_that_was_set_back(writer, queue, rows):
    set_aside(writer, *"ab")
    rows("UPDATE pending SET not_before = %s WHERE interaction_id = 'a'", at(0) + timedelta(days=300))
    rows("UPDATE pending SET not_before = %s WHERE interaction_id = 'b'", at(0) + LONGEST_WAIT)
    assert claim(queue, now=at(0)) == []  # by which it becomes due
    assert ids(claim(queue, now=at(0))) == ["a"]


def test_work_that_was_queued_by_a_clock_that_was_ahead_does_not_wait_for_it(database, writer, queue):
    it = an_interaction()
    writer.write(a_batch(an_assessment(interaction=it)))
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM pending")
        enqueue(connection, "monitor", NOON + timedelta(days=1), [(Work.SIDECAR, it)])
    assert claim(queue, now=NOON) == []  # by which it becomes due
    (found,) = claim(queue, now=NOON)
    queue.failed([found], "busy", NOON + timedelta(hours=5))  # a server may ask for that
    assert claim(queue, now=NOON) == []
    assert claim(queue, now=NOON) == []


def test_only_the_kinds_that_are_asked_for_are_taken_and_none_that_was_given_up(writer, queue):
    writer.write(a_batch(an_assessment(id="a", support=A_STAND_IN)))
    set_aside(writer, "b")
    assert claim(queue, Work.SIDECAR)[0].kind is Work.SIDECAR
    queue.failed(claim(queue, Work.JUDGE), "no", None)
    assert [c.kind for c in claim(queue, now=LATER)] == [Work.SIDECAR, Work.ASSESS]  # by then the lease has lapsed


def test_no_piece_is_in_two_hands(writer, queue, engine):
    """Eight workers at once, on two engines, with much more contention than there is work."""
    set_aside(writer, *map(str, range(120)))
    second = create_engine(engine.url)
    workers, chance = 8, random.Random(7)
    meet = Barrier(workers)

    def work(number):
        mine, found = PendingQueue(engine if number % 2 else second), []
        meet.wait()
        while taken := claim(mine, most=1 + number % 5):
            assert len(taken) <= 1 + number % 5
            found += taken
        return found

    with ThreadPoolExecutor(workers) as pool:
        found = [c for claims in pool.map(work, chance.sample(range(workers), workers)) for c in claims]
    second.dispose()
    assert Counter(ids(found)) == Counter(map(str, range(120)))
    assert claim(queue) == []


def test_no_plan_of_the_server_takes_more_than_was_asked_for(database, writer, rows):
    """A subquery that skips locked rows gives other rows each time that a plan runs it."""
    set_aside(writer, *map(str, range(40)))
    rows("ANALYZE pending")
    off = " ".join(f"-c enable_{n}=off" for n in ("hashjoin", "mergejoin", "material", "hashagg", "sort", "memoize"))
    engine = create_engine(f"postgresql+psycopg://{database.partition('://')[2]}", connect_args={"options": off})
    assert [len(claim(PendingQueue(engine), most=3)) for _ in range(3)] == [3, 3, 3]
    engine.dispose()


def test_what_another_transaction_holds_is_left_out(database, writer, queue):
    set_aside(writer, "a", "b")
    with psycopg.connect(database) as busy:
        busy.execute("SELECT FROM pending WHERE interaction_id = 'a' FOR UPDATE")
        assert ids(claim(queue)) == ["b"]
    assert ids(claim(queue)) == ["a"]


def test_a_claim_of_an_answer_that_is_worded_as_a_refusal_says_so(writer, queue, rows):
    full = Refusal(kind=RefusalKind.FULL)
    writer.write(
        a_batch(
            an_assessment(id="refusal", verdict=Verdict.REFUSAL, refusal=full),
            an_assessment(id="grounded"),
            an_assessment(id="rescored"),
        )
    )
    rows(
        "INSERT INTO assessment SELECT app, 'rescored', 'another', occurred_at, profile_name, embedding_model, verdict,"
        " rule_verdict, reasons, refusal_kind, refusal_correct, p_grounded, p_refusal, p_self_generated, uncalibrated,"
        " sdq, sdrd, sda, qrd, qa, features, support, false FROM assessment WHERE id = 'refusal'"
    )
    found = {c.interaction.id: c.refuses for c in claim(queue, Work.JUDGE)}
    assert found == {"refusal": True, "grounded": False, "rescored": False}


def test_the_judge_gets_a_follow_up_as_it_was_read(database, writer, queue, rows):
    first, after = a_follow_up()
    writer.write(a_batch(first, after))
    with psycopg.connect(database) as connection:
        enqueue(connection, "monitor", NOON, [(Work.JUDGE, a.interaction) for a in (first, after)])
    found = {one.interaction.id: one for one in queue.claim([Work.JUDGE], NOON, most=9, lease=LEASE)}
    assert (case_of(found["q-1"]).question, case_of(found["q-2"]).question) == (SAID, READ_AS)
    rows("UPDATE interaction SET question = '' WHERE id = 'q-1'")
    again = {one.interaction.id: one for one in queue.claimed(found["q-2"].token)}
    assert case_of(again["q-2"]).question == FOLLOW_UP


def test_the_work_of_a_claim_does_not_grow_with_what_waits(engine):
    """Neither for one kind of work nor for several."""

    def looked_at(kinds, number):
        queued = text("""
            INSERT INTO pending (kind, app, interaction_id, occurred_at, group_id, queued_at, not_before)
            SELECT kind, 'app', :number || ' ' || n, :now, 'monitor', :now,
                CAST(:now AS timestamptz) - n * interval '1 s'
            FROM generate_series(1, :number) n, unnest(CAST(:kinds AS text[])) AS kind ON CONFLICT DO NOTHING
        """)
        with engine.begin() as connection:
            connection.execute(queued, {"kinds": kinds, "number": number, "now": NOON})
            connection.execute(text("ANALYZE pending"))
            given = {"claim": "ours", "lapses": LATER, "kinds": kinds, "now": NOON, "most": 8}
            plan = connection.execute(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {CLAIM}"), given).scalar_one()
        return sum(_rows(plan[0]["Plan"]))

    for kinds in (["judge"], ["assess", "sidecar"]):
        few, many = looked_at(kinds, 2_000), looked_at(kinds, 8_000)
        assert many <= few + 10


def _rows(plan):
    yield (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    for below in plan.get("Plans", ()):
        yield from _rows(below)


def test_of_several_kinds_the_longest_due_come_first(database, writer, queue):
    turns = [an_interaction(id=f"q-{n}") for n in range(6)]
    writer.write(a_batch(*(an_assessment(interaction=it) for it in turns)))
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM pending")
        for minute, it in enumerate(turns):
            enqueue(connection, "monitor", at(minute), [([Work.ASSESS, Work.SIDECAR][minute % 2], it)])
    claimed = claim(queue, Work.ASSESS, Work.SIDECAR, now=LATER, most=3)
    assert sorted(ids(claimed)) == ["q-0", "q-1", "q-2"]
