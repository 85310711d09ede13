"""The ledger balances while pending work is done by workers and consumers at once."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier, Event

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.core.batch import Tally
from monitor.core.errors import Retriable
from monitor.core.message import Position
from monitor.core.pending import Work
from monitor.store.interaction.writer import Writer
from monitor.store.pending.finish import finish_assessed
from monitor.store.pending.queue import PendingQueue
from tests.factories.answers import (
    NOON,
    a_batch,
    an_interaction,
    at,
    clock,
)
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.pending_work import LATER, TOPIC, Reader, assessed, claim, in_balance, the_queue


def test_a_batch_that_was_set_aside_balances_before_and_after_it_is_assessed(writer, queue, engine):
    reader = Reader(writer)
    assert reader.write(assessed=["a"], dead=2) == Tally(received=3, assessed=1, dead=2)
    assert reader.write(pending=["b", "c", "a", "b"], dead=1) == Tally(received=5, pending=2, duplicate=2, dead=1)
    assert in_balance(engine) == {("monitor", TOPIC, 0): (8, 1, 2, 3, 2)}
    assert reader.write(assessed=["c", "d"]) == Tally(received=2, assessed=1, duplicate=1)
    assert in_balance(engine) == {("monitor", TOPIC, 0): (10, 2, 3, 3, 2)}
    claims = claim(queue, Work.ASSESS)
    finish_assessed(writer, assessed(claims[:1]))
    assert in_balance(engine) == {("monitor", TOPIC, 0): (10, 3, 3, 3, 1)}
    finish_assessed(writer, assessed(claims))
    assert in_balance(engine) == {("monitor", TOPIC, 0): (10, 4, 3, 3, 0)}


def test_a_key_that_is_both_assessed_and_set_aside_in_one_batch_is_a_duplicate_there(writer, engine, rows):
    reader = Reader(writer)
    assert reader.write(assessed=["a"], pending=["a", "b"]) == Tally(received=3, assessed=1, pending=1, duplicate=1)
    assert in_balance(engine) == {("monitor", TOPIC, 0): (3, 1, 1, 0, 1)}
    assert [row for row in the_queue(rows) if row[0] == "assess"] == [("assess", "b")]


def test_each_is_moved_in_the_ledger_of_its_group_and_partition(database, writer, queue, engine):
    with closing(Writer(database, clock, group="other", queue_key=QUEUE_KEY)) as other:
        Reader(writer).write(pending=["a", "b"])
        Reader(writer, partition=1).write(pending=["c"], assessed=["d"])
        Reader(other).write(pending=["a", "e"])
        Reader(other, topic="questions").write(pending=["f"])
    assert in_balance(engine) == {
        ("monitor", TOPIC, 0): (2, 0, 0, 0, 2),
        ("monitor", TOPIC, 1): (2, 1, 0, 0, 1),
        ("other", TOPIC, 0): (2, 0, 1, 0, 1),
        ("other", "questions", 0): (1, 0, 0, 0, 1),
    }
    with closing(Writer(database, clock, group="whoever works", queue_key=QUEUE_KEY)) as worker:
        assert finish_assessed(worker, assessed(c for c in claim(queue, Work.ASSESS) if c.interaction.id != "b")) == 4
    assert in_balance(engine) == {
        ("monitor", TOPIC, 0): (2, 1, 0, 0, 1),
        ("monitor", TOPIC, 1): (2, 2, 0, 0, 0),
        ("other", TOPIC, 0): (2, 1, 1, 0, 0),
        ("other", "questions", 0): (1, 1, 0, 0, 0),
    }


def test_what_has_no_ledger_is_assessed_without_one(writer, queue, engine, rows):
    """Standard input has no offsets, and an interaction may have no position at all."""
    at_line = an_interaction(id="b", position=Position(topic="-", partition=0, offset=7))
    writer.write(a_batch(pending=(an_interaction(id="a"), at_line), received=2))
    assert finish_assessed(writer, assessed(claim(queue))) == 2
    assert in_balance(engine) == {}
    assert rows("SELECT count(*) FROM assessment") == [(2,)]


def test_a_batch_set_aside_whose_commit_was_not_heard_of_is_counted_once(writer, engine, monkeypatch, rows):
    batch = a_batch(
        pending=(an_interaction(position=Reader(writer).place(0)),), received=1, offsets=(Reader(writer).offset(0, 1),)
    )
    write = writer._write
    with monkeypatch.context() as patch:

        def lost(given):
            write(given)
            raise psycopg.OperationalError("the server closed the connection")

        patch.setattr(writer, "_write", lost)
        with pytest.raises(Retriable):
            writer.write(batch)
    assert writer.write(batch) == Tally(received=1, duplicate=1)
    assert in_balance(engine) == {("monitor", TOPIC, 0): (1, 0, 0, 0, 1)}
    assert the_queue(rows) == [("assess", "q-1")]


operations = st.lists(
    st.tuples(st.just("write"), st.integers(0, 3), st.lists(st.integers(0, 12), min_size=1, max_size=4), st.booleans())
    | st.tuples(st.sampled_from(["finish", "lapse", "fail", "late"]), st.integers(1, 4)),
    max_size=14,
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=operations)
def test_the_ledger_balances_whatever_happens_in_whatever_order(database, queue, engine, rows, steps):
    rows(
        "TRUNCATE interaction_key, interaction, assessment, verdict_minute, rollup_label, pending, consumer_offset,"
        " dead_letter"
    )
    writers = [Writer(database, clock, group=group, queue_key=QUEUE_KEY) for group in ("one", "two")]
    readers = [Reader(writers[n % 2], partition=n // 2) for n in range(4)]
    held, late = [], []
    try:
        for kind, number, *rest in steps:
            if kind == "write":
                names, aside = rest
                readers[number].write(**{"pending" if aside else "assessed": list(map(str, names))}, dead=number % 2)
            elif kind == "finish":
                held += claim(queue, most=number)
                finish_assessed(writers[0], assessed([c for c in held if c.token == held[0].token]) if held else [])
            elif kind == "lapse":
                late += claim(queue, most=number)
                rows("UPDATE pending SET not_before = %s, claim = 'somebody else' WHERE claim IS NOT NULL", NOON)
            elif kind == "fail":
                queue.failed(claim(queue, most=number), "no", NOON)
            else:
                finish_assessed(writers[1], assessed([c for c in late if c.token == late[0].token]) if late else [])
            in_balance(engine)
        for token in {c.token for c in held}:
            finish_assessed(writers[0], assessed([c for c in held if c.token == token]))
        finish_assessed(writers[1], assessed(claim(queue, now=LATER)))
        found = in_balance(engine)
    finally:
        for writer in writers:
            writer.close()
    assert sum(row[4] for row in found.values()) == 0
    assert sum(row[1] for row in found.values()) == rows("SELECT count(*) FROM interaction")[0][0]
    assert rows("SELECT coalesce(sum(total), 0)::integer FROM verdict_minute") == rows(
        "SELECT count(*) FROM assessment"
    )
    assert the_queue(rows) == []


def test_workers_and_consumers_of_the_same_partitions_get_on(database, engine, rows):
    """Two consumers leave some pending and assess others, and two workers finish, all in the same ledger rows."""
    rounds, done = 100, Event()
    meet = Barrier(4)

    def consume(number):
        chance = random.Random(number)
        with closing(Writer(database, clock, group=f"group {number}", queue_key=QUEUE_KEY)) as writer:
            readers = [Reader(writer, partition=partition) for partition in range(2)]
            meet.wait()
            for _ in range(rounds):
                its = [
                    an_interaction(
                        id=str(chance.randrange(1500)),
                        occurred_at=at(chance.randrange(3)),
                        model=f"m{chance.randrange(4)}",
                    )
                    for _ in range(6)
                ]
                kind = "pending" if chance.random() < 0.6 else "assessed"
                chance.choice(readers).write(**{kind: its}, dead=1)  # a deadlock would be raised

    def work(_):
        mine = PendingQueue(engine)
        with closing(Writer(database, clock, queue_key=QUEUE_KEY)) as writer:
            meet.wait()
            while True:
                last = done.is_set()
                if claims := claim(mine, Work.ASSESS, most=7):
                    finish_assessed(writer, assessed(claims))
                elif last:
                    return

    with ThreadPoolExecutor(4) as pool:
        consumers, workers = ([pool.submit(what, n) for n in range(2)] for what in (consume, work))
        for consumer in consumers:
            consumer.result()
        done.set()
        for worker in workers:
            worker.result()
    found = in_balance(engine)
    assert sum(row[0] for row in found.values()) == 2 * rounds * 7
    assert sum(row[4] for row in found.values()) == 0
    ((stored,),) = rows("SELECT count(*) FROM interaction")
    assert sum(row[1] for row in found.values()) == stored
    assert rows("SELECT count(*), count(DISTINCT (app, id)) FROM assessment") == [(stored, stored)]
    assert rows("SELECT sum(total)::integer FROM verdict_minute") == [(stored,)]
    assert the_queue(rows) == []
