"""The writer stores a batch wholly or not at all: failing statements, dead connections, several writers."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Barrier

import psycopg
import pytest
from psycopg import sql

from monitor.core.batch import Tally
from monitor.core.errors import Fatal, Retriable
from monitor.core.message import Offset
from monitor.store import database as halted
from monitor.store.interaction import writer as writing
from monitor.store.interaction.writer import Writer
from tests.factories.answers import NOON, a_batch, a_dead_letter, an_assessment, clock
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.writing import FAR, stay_in_pipeline_mode, write


@pytest.mark.parametrize(
    "table", ["consumer_offset", "interaction_key", "interaction", "verdict_minute", "dead_letter"]
)
def test_a_write_that_fails_anywhere_stores_nothing(writer, rows, table):
    write(writer, an_assessment(id="before"))
    kept = "interaction_key", "interaction", "assessment", "dead_letter", "consumer_offset", "rollup_label"
    everything = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in kept)
    everything += " UNION ALL SELECT 'counted', sum(total) FROM verdict_minute"
    before = rows(everything)
    rows(f"ALTER TABLE {table} RENAME TO hidden")
    batch = a_batch(
        an_assessment(id="a", app="new"),
        an_assessment(id="b", occurred_at=datetime(2026, 2, 1, tzinfo=UTC)),
        dead_letters=(a_dead_letter(),),
        offsets=(Offset(topic="t", partition=0, expected=None, next=5),),
    )
    with pytest.raises(Fatal):
        writer.write(batch)
    rows(f"ALTER TABLE hidden RENAME TO {table}")
    assert rows(everything) == before
    assert rows("SELECT to_regclass('interaction_2026_02')") == [(None,)]
    assert writer.write(batch) == Tally(received=3, assessed=2, dead=1)


def test_a_killed_connection_is_retriable_and_the_next_write_succeeds(writer, rows):
    write(writer, an_assessment(id="1"))
    for number in (2, 3):
        assert rows("SELECT pg_terminate_backend(%s, 10000)", writer._connection.info.backend_pid) == [(True,)]
        with pytest.raises(Retriable):
            write(writer, an_assessment(id=str(number)))
        assert write(writer, an_assessment(id=str(number))).assessed == 1
    assert rows("SELECT count(*), sum(total) FROM interaction, LATERAL (SELECT 1 AS total) AS one") == [(3, 3)]


def test_a_connection_killed_within_a_write_is_retriable_and_nothing_is_stored(writer, rows, monkeypatch):
    write(writer, an_assessment(id="1"))
    ensure = writer._partitions.ensure

    def killed(connection, interactions):
        ensure(connection, interactions)
        rows("SELECT pg_terminate_backend(%s, 10000)", connection.info.backend_pid)

    with monkeypatch.context() as patch:
        patch.setattr(writer._partitions, "ensure", killed)
        with pytest.raises(Retriable):
            write(writer, an_assessment(id="2"))
    assert rows("SELECT id FROM interaction_key") == [("1",)]
    assert write(writer, an_assessment(id="2")).assessed == 1


@pytest.mark.parametrize("how", ["write", "transaction"])
def test_a_connection_that_stays_in_pipeline_mode_is_not_used_again(writer, rows, monkeypatch, how):
    def does():
        if how == "write":
            write(writer, an_assessment(id="2"))
        with writer.transaction() as connection:
            stay_in_pipeline_mode(connection)

    write(writer, an_assessment(id="1"))
    with monkeypatch.context() as patch:
        patch.setattr(writer._partitions, "ensure", lambda connection, _: stay_in_pipeline_mode(connection))
        with pytest.raises(Retriable, match="not allowed in pipeline mode"):
            does()
    assert write(writer, an_assessment(id="2")).assessed == 1
    assert rows("SELECT id FROM interaction_key ORDER BY id") == [("1",), ("2",)]


def test_a_batch_whose_commit_was_not_heard_of_is_not_stored_again(writer, rows, monkeypatch):
    """The connection dies between the commit and its acknowledgement; a retry then finds its own offset."""
    batch = a_batch(an_assessment(), offsets=(Offset(topic="t", partition=0, expected=None, next=5),))
    with monkeypatch.context() as patch:
        patch.setattr(writer, "_write", lambda given: (Writer._write(writer, given), lose())[0])

        def lose():
            raise psycopg.OperationalError("server closed the connection unexpectedly")

        with pytest.raises(Retriable):
            writer.write(batch)
    assert rows("SELECT next_offset FROM consumer_offset") == [(5,)]
    assert writer.write(batch).duplicate == 1
    assert rows("SELECT sum(total) FROM verdict_minute") == [(1,)]


def test_no_server_is_retriable():
    writer = Writer("postgresql://127.0.0.1:1/nothing", clock, queue_key=QUEUE_KEY)
    with pytest.raises(Retriable):
        write(writer, an_assessment())
    writer.close()


def test_closing_twice_is_no_error(database):
    writer = Writer(database, clock, queue_key=QUEUE_KEY)
    writer.close()
    write(writer, an_assessment())
    writer.close()
    writer.close()


def test_two_writers_with_the_same_interactions_store_each_once(database, rows):
    """Many rounds of overlapping batches in different orders, with new months, labels and minutes in each."""
    writers, rounds, each = 2, 60, 40
    meet = Barrier(writers)

    def work(seed):
        chance = random.Random(seed)
        writer, total = Writer(database, clock, queue_key=QUEUE_KEY), Tally()
        for number in range(rounds):
            month = NOON + timedelta(days=31 * (number // 5))
            mine = [
                an_assessment(
                    id=f"{number}-{i}",
                    app=f"app {i % 5}",
                    model=f"model {number}-{i % 3}",
                    tags={"topic": f"topic {i % 7}"},
                    occurred_at=month + timedelta(minutes=i % 10),
                    marks=FAR if i % 11 == 0 else frozenset(),
                )
                for i in chance.sample(range(each), each * 3 // 4)
            ]
            meet.wait()  # so that both begin each round together
            letters = tuple(a_dead_letter(offset=number * 10 + i) for i in range(chance.randrange(3)))
            total += writer.write(a_batch(*mine, dead_letters=letters))
        writer.close()
        return total

    with ThreadPoolExecutor(writers) as pool:
        totals = list(pool.map(work, range(writers)))
    assert all(total.balanced for total in totals)
    ((stored,),) = rows("SELECT count(*) FROM interaction")
    assert sum(total.assessed for total in totals) == stored == rows("SELECT count(*) FROM interaction_key")[0][0]
    assert (
        rows("SELECT count(*) FROM assessment") == rows("SELECT sum(total)::bigint FROM verdict_minute") == [(stored,)]
    )
    assert rows("SELECT count(DISTINCT (app, id)) FROM interaction") == [(stored,)]


def test_two_readers_of_one_source_cannot_both_go_on(database, rows):
    first, second = Writer(database, clock, queue_key=QUEUE_KEY), Writer(database, clock, queue_key=QUEUE_KEY)
    offset = Offset(topic="t", partition=0, expected=None, next=5)
    meet = Barrier(2)

    def work(writer):
        meet.wait()
        try:
            return writer.write(a_batch(an_assessment(), offsets=(offset,))).assessed
        except Fatal as error:
            return type(error).__name__

    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(work, [first, second]))
    assert sorted(map(str, ends)) == ["1", "Fenced"]
    assert rows("SELECT count(*) FROM interaction") == [(1,)]
    first.close()
    second.close()


def test_the_writer_needs_no_privilege_beyond_the_tables_own(database):
    """The writer needs no superuser: a plain owner of the tables can write, new months included."""
    with psycopg.connect(database, autocommit=True) as admin:
        name = f"owner_{admin.info.backend_pid}"
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(name)))
        try:
            for kind, found in (("TABLE", "pg_class WHERE relkind IN ('r', 'p')"), ("FUNCTION", "pg_proc WHERE true")):
                column = "oid::regclass" if kind == "TABLE" else "oid::regprocedure"
                names = admin.execute(
                    f"SELECT {column}::text FROM {found} AND "
                    f"{'rel' if kind == 'TABLE' else 'pro'}namespace = 'public'::regnamespace"
                ).fetchall()
                for (one,) in names:
                    admin.execute(f"ALTER {kind} {one} OWNER TO {name}")
            admin.execute(f"GRANT CREATE ON SCHEMA public TO {name}")
            writer = Writer(database.replace("postgres:", f"{name}:", 1), clock, queue_key=QUEUE_KEY)
            assert write(writer, an_assessment()).assessed == 1
            writer.close()
            sessions = "SELECT count(*) FROM pg_stat_activity WHERE usename = %s"
            for _ in range(1000):  # the server takes a moment to clear up a session whose client is gone
                if admin.execute(sessions, [name]).fetchone() == (0,):
                    break
        finally:
            admin.execute(f"REASSIGN OWNED BY {name} TO CURRENT_USER")
            admin.execute(f"DROP OWNED BY {name}")
            admin.execute(f"DROP ROLE {name}")


def test_a_transaction_that_was_halted_in_a_copy_is_ended_by_who_waits_for_it(database, monkeypatch, rows):
    monkeypatch.setattr(halted, "HALTED", 0.1)
    monkeypatch.setitem(writing.WRITER_SESSION, "options", "-c timezone=UTC -c lock_timeout=300ms")
    offset = Offset(topic="rag", partition=0, expected=None, next=1)
    writer = Writer(database, clock, queue_key=QUEUE_KEY)
    write(writer, an_assessment(id="a"), offsets=(offset,))
    following = replace(offset, expected=1, next=2)
    with closing(psycopg.connect(database)) as stopped:
        stopped.execute("UPDATE consumer_offset SET next_offset = 2")
        stopped.pgconn.exec_(b"COPY profile (hash) FROM STDIN")  # and not a word more
        with pytest.raises(Retriable, match="lock timeout"):
            write(writer, an_assessment(id="b"), offsets=(following,))
        assert write(writer, an_assessment(id="b"), offsets=(following,)).assessed == 1
    writer.close()
    assert rows("SELECT next_offset FROM consumer_offset") == [(2,)]


def test_a_transaction_that_goes_on_is_waited_for(database, monkeypatch):
    monkeypatch.setitem(writing.WRITER_SESSION, "options", "-c timezone=UTC -c lock_timeout=100ms")
    offset = Offset(topic="rag", partition=0, expected=None, next=1)
    writer = Writer(database, clock, queue_key=QUEUE_KEY)
    write(writer, an_assessment(id="a"), offsets=(offset,))
    with psycopg.connect(database) as busy:
        busy.execute("UPDATE consumer_offset SET next_offset = 2")
        for _ in range(2):
            with pytest.raises(Retriable, match="lock timeout"):
                write(writer, an_assessment(id="b"), offsets=(replace(offset, expected=1, next=2),))
        busy.rollback()
    writer.close()
