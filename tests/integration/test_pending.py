"""Pending work on a real server: one worker at a time has it, it is stored once, and ledger and rollup hold."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Barrier, Event

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import create_engine

from monitor.app.pending.assessing import AssessingWorker
from monitor.app.pending.queue import Queue
from monitor.assess.llm.exchange import BudgetSpent
from monitor.core.errors import Fatal, Retriable
from monitor.core.message import Offset, Position
from monitor.core.model import Metrics, Reason, Refusal, RefusalKind, StandIn, Support, Tally, Verdict, Work
from monitor.store.interaction.follow_ups import enqueue
from monitor.store.interaction.rollup import MOST_VALUES, LabelCap
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.ledger import Ledger
from monitor.store.pending.finish import finish_assessed, finish_judged, finish_revised
from monitor.store.pending.queue import Pending, PendingCount
from monitor.store.tables.interactions import METRICS
from tests.factories.answers import (
    A_STAND_IN,
    FROM_THE_SIDECAR,
    NOON,
    a_batch,
    a_dead_letter,
    a_judgement,
    an_assessment,
    an_interaction,
    at,
    clock,
)
from tests.integration.test_writer import FAR, ROLLUP, stored_interactions

TOPIC = "answers"
LEASE = timedelta(minutes=15)
EVERY_KIND = tuple(Work)
LATER = NOON + timedelta(hours=1)


@pytest.fixture
def queue(engine):
    return Pending(engine)


@pytest.fixture
def follow_ups():
    """What the writer queues for an assessment; a test changes it."""
    return {Work.SIDECAR, Work.JUDGE}


@pytest.fixture
def writer(database, follow_ups):
    """Asks for the sidecar where there is a stand-in, and for the judge always, as far as `follow_ups` has them."""

    def wanted(assessment):
        stands_in = assessment.support.stands_in
        kinds = {Work.JUDGE} | ({Work.SIDECAR} if stands_in is not None and stands_in.queued else set())
        return kinds & follow_ups

    with closing(Writer(database, clock, follow_ups=wanted)) as writer:
        yield writer


@dataclass
class Reader:
    """Writes what a consumer of one partition would: interactions with their places, and how far it has read."""

    writer: Writer
    topic: str = TOPIC
    partition: int = 0
    reached: int = 0

    def write(self, *, assessed=(), pending=(), dead=0):
        """Interactions by their ids, or as they are; gives the tally of the batch."""
        first, placed = self.reached, iter(range(self.reached, self.reached + 10_000))

        def placed_(it):
            it = it if not isinstance(it, str) else an_interaction(id=it)
            return replace(it, position=self.place(next(placed)))

        batch = a_batch(
            *(an_assessment(interaction=placed_(it), support=A_STAND_IN) for it in assessed),
            pending=tuple(map(placed_, pending)),
            dead_letters=tuple(
                a_dead_letter(position=self.place(n)) for n, _ in zip(placed, range(dead), strict=False)
            ),
            received=len(assessed) + len(pending) + dead,
            offsets=(self.offset(first, len(assessed) + len(pending) + dead),),
        )
        tally = self.writer.write(batch)
        self.reached += batch.received
        return tally

    def place(self, offset):
        return Position(topic=self.topic, partition=self.partition, offset=offset)

    def offset(self, first, number):
        return Offset(
            topic=self.topic, partition=self.partition, expected=first or None, begin=first, next=first + number,
            received=number,
        )  # fmt: skip


def set_aside(writer, *ids, **over):
    """Interactions that were stored without an assessment and without a ledger."""
    its = tuple(an_interaction(id=id_, **over) for id_ in ids)
    return writer.write(a_batch(pending=its, received=len(its)))


def claim(queue, *kinds, now=NOON, most=1000):
    return queue.claim(kinds or EVERY_KIND, now, most=most, lease=LEASE)


def assessed(claims, **over):
    return [(c, an_assessment(interaction=c.interaction, **over)) for c in claims]


def judged(claims, *judgements):
    return [(c, judgements or (a_judgement(),)) for c in claims]


def ids(claims):
    return [c.interaction.id for c in claims]


def in_balance(engine):
    """What the ledgers say, by group, topic and partition, having made sure that all of it adds up."""
    rows, recounted = Ledger(engine).read(recount=True)
    assert [row for row in rows if not row.balanced] + [one for one in recounted if not one.balanced] == []
    names = ("received", "assessed", "duplicate", "dead", "pending")
    return {(row.group, row.topic, row.partition): tuple(row.counts[name] for name in names) for row in rows}


# --- the queue ---


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
        list(pool.map(work, [random.Random(1), random.Random(2)]))  # noqa: S311  repeatable
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
    workers, chance = 8, random.Random(7)  # noqa: S311  repeatable
    meet = Barrier(workers)

    def work(number):
        mine, found = Pending(engine if number % 2 else second), []
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
    """A subquery that skips what is locked gives other rows each time that a plan runs it."""
    set_aside(writer, *map(str, range(40)))
    rows("ANALYZE pending")
    off = " ".join(f"-c enable_{n}=off" for n in ("hashjoin", "mergejoin", "material", "hashagg", "sort", "memoize"))
    engine = create_engine(f"postgresql+psycopg://{database.partition('://')[2]}", connect_args={"options": off})
    assert [len(claim(Pending(engine), most=3)) for _ in range(3)] == [3, 3, 3]
    engine.dispose()


def test_what_another_transaction_holds_is_left_out(database, writer, queue):
    set_aside(writer, "a", "b")
    with psycopg.connect(database) as busy:
        busy.execute("SELECT FROM pending WHERE interaction_id = 'a' FOR UPDATE")
        assert ids(claim(queue)) == ["b"]
    assert ids(claim(queue)) == ["a"]


def test_a_claim_of_an_answer_that_is_worded_as_a_refusal_says_so(writer, queue, rows):
    full = Refusal(kind=RefusalKind.FULL)
    writer.write(a_batch(
        an_assessment(id="refusal", verdict=Verdict.REFUSAL, refusal=full), an_assessment(id="grounded"),
        an_assessment(id="rescored"),
    ))  # fmt: skip
    rows(
        "INSERT INTO assessment SELECT app, 'rescored', 'another', occurred_at, profile_name, embedding_model, verdict,"
        " rule_verdict, reasons, refusal_kind, refusal_correct, p_grounded, p_refusal, p_self_generated, uncalibrated,"
        " sdq, sdrd, sda, qrd, qa, features, support, false FROM assessment WHERE id = 'refusal'"
    )
    found = {c.interaction.id: c.refuses for c in claim(queue, Work.JUDGE)}
    assert found == {"refusal": True, "grounded": False, "rescored": False}


def the_queue(rows):
    return rows("SELECT kind, interaction_id FROM pending ORDER BY kind, interaction_id")


def test_what_is_finished_under_a_lapsed_claim_is_not_stored(writer, queue, engine, rows):
    """The first worker comes back after another has taken its work, and after that one has finished it."""
    reader = Reader(writer)
    reader.write(pending=["p"], assessed=["a"])
    first, second = claim(queue, now=NOON), claim(queue, now=LATER)
    assert Counter(c.kind for c in first) == Counter(c.kind for c in second) == dict.fromkeys(Work, 1)
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
    """The lapsed claim is finished in a transaction that is still open when somebody looks for work."""
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


# --- what fails ---


@dataclass
class Clock:
    now: datetime = NOON

    def __call__(self):
        return self.now


def test_what_fails_waits_longer_each_time_and_is_given_up_in_the_end(writer, queue, rows):
    set_aside(writer, "a", "b")
    time = Clock()
    work, waits = Queue(pending=queue, now=time, max_attempts=12), []
    for _ in range(12):
        claims = work.claim([Work.ASSESS], 10)
        assert ids(claims) == ["a", "b"]
        work.put_back(claims, Fatal("the embedder\0 is away"))
        assert work.claim([Work.ASSESS], 10) == []
        ((due,),) = rows("SELECT DISTINCT not_before FROM pending")
        waits.append((due - time.now).total_seconds())
        time.now = due
    assert waits[:11] == [5, 10, 20, 40, 80, 160, 320, 640, 900, 900, 900]
    assert (
        rows("SELECT given_up, attempts, last_error, claim FROM pending")
        == [(True, 12, "the embedder\ufffd is away", None)] * 2
    )
    time.now += timedelta(days=400)
    assert work.claim([Work.ASSESS], 10) == []


def test_an_outage_is_never_given_up(writer, queue, rows):
    set_aside(writer, "a")
    time = Clock()
    work = Queue(pending=queue, now=time, max_attempts=2)
    for _ in range(5):
        work.put_back(work.claim([Work.ASSESS], 10), Retriable("the embedder is away"))
        ((due, given_up),) = rows("SELECT not_before, given_up FROM pending")
        assert not given_up
        time.now = due


def test_a_server_that_says_when_is_not_asked_before(writer, queue, rows):
    set_aside(writer, "a")
    work = Queue(pending=queue, now=clock, max_attempts=5)
    work.put_back(work.claim([Work.ASSESS], 1), Retriable("busy", retry_after=3600))
    assert rows("SELECT not_before FROM pending") == [(NOON + timedelta(hours=1),)]


def test_a_spent_budget_counts_no_attempt(writer, queue, rows):
    set_aside(writer, "a")
    time = Clock()
    work = Queue(pending=queue, now=time, max_attempts=1)
    for _ in range(5):
        work.put_back(work.claim([Work.ASSESS], 1), BudgetSpent("nothing left", retry_after=3600))
        time.now += timedelta(hours=1)
    assert rows("SELECT attempts, given_up, last_error, not_before FROM pending") == [
        (0, False, "nothing left", time.now)
    ]
    work.put_back(work.claim([Work.ASSESS], 1), Fatal("away"))
    assert rows("SELECT attempts, given_up FROM pending") == [(1, True)]


def test_what_was_given_up_or_waits_after_a_failure_can_be_revived(writer, queue, rows):
    set_aside(writer, "given up", "waits", "at work", "never tried")
    writer.write(a_batch(an_assessment(id="judge")))
    by_id = {c.interaction.id: c for c in claim(queue)}
    rows("UPDATE pending SET claim = NULL, attempts = 0, not_before = %s WHERE interaction_id = 'never tried'", LATER)
    queue.failed([by_id["given up"]], "no", None)
    queue.failed([by_id["judge"]], "no", None)
    queue.failed([by_id["waits"]], "not yet", LATER)
    assert queue.revive(at(1), kind=Work.ASSESS) == 2
    assert sorted(ids(claim(queue, now=at(1)))) == ["given up", "waits"]
    assert rows("SELECT given_up, attempts FROM pending WHERE interaction_id = 'given up'") == [(False, 1)]
    assert queue.revive(at(1), kind=None) == 1
    assert ids(claim(queue, now=at(1))) == ["judge"]
    assert queue.revive(at(1), kind=None) == 0  # all of them are at work


def test_the_counts_say_what_waits_what_is_at_work_and_what_was_given_up(writer, queue):
    assert queue.counts(NOON) == []
    set_aside(writer, *"abcde")
    writer.write(a_batch(an_assessment(id="f")))
    by_id = {c.interaction.id: c for c in claim(queue, Work.ASSESS)}
    queue.failed([by_id["a"]], "an error", None)
    queue.failed([by_id["b"]], "another error", LATER)
    queue.failed([by_id["c"]], "another error", NOON)
    counts = {c.kind: c for c in queue.counts(NOON)}
    assert counts[Work.ASSESS] == PendingCount(
        kind=Work.ASSESS, waiting=4, due=1, claimed=2, failed=2, given_up=1, oldest=NOON, last_error="another error",
    )  # fmt: skip
    assert counts[Work.JUDGE] == PendingCount(
        kind=Work.JUDGE, waiting=1, due=1, claimed=0, failed=0, given_up=0, oldest=NOON, last_error=None,
    )  # fmt: skip
    assert list(counts) == [Work.ASSESS, Work.JUDGE]
    assert queue.counts(LATER)[0].due == 4  # a claim that has lapsed is due


def test_single_pieces_are_listed_by_kind_and_state(writer, queue):
    set_aside(writer, *"abc")
    writer.write(a_batch(an_assessment(id="d", support=A_STAND_IN)))
    queue.failed([c for c in claim(queue) if c.interaction.id == "b"], "no", None)

    def found(kind=None, given_up=None, most=50):
        return [(row["kind"], row["interaction_id"]) for row in queue.rows(kind=kind, given_up=given_up, most=most)]

    assert sorted(found()) == [("assess", "a"), ("assess", "b"), ("assess", "c"), ("judge", "d"), ("sidecar", "d")]
    assert found(given_up=True) == found(kind=Work.ASSESS, given_up=True) == [("assess", "b")]
    assert found(kind=Work.ASSESS, given_up=False) == [("assess", "a"), ("assess", "c")]
    assert found(kind=Work.JUDGE, given_up=True) == []
    assert found(most=2) == [("assess", "a"), ("assess", "b")]


def test_what_was_judged_is_not_queued_again(database, writer, queue, rows):
    writer.write(a_batch(an_assessment(id="a", support=A_STAND_IN), an_assessment(id="b", support=A_STAND_IN)))
    by_kind = {kind: [c for c in claim(queue, kind) if c.interaction.id == "a"] for kind in (Work.JUDGE, Work.SIDECAR)}
    finish_judged(writer, judged(by_kind[Work.JUDGE]), NOON)
    finish_revised(writer, assessed(by_kind[Work.SIDECAR], support=FROM_THE_SIDECAR), NOON)
    assert the_queue(rows) == [("judge", "b"), ("sidecar", "b")]
    with psycopg.connect(database) as connection:
        enqueue(connection, "monitor", NOON, [(kind, by_kind[Work.JUDGE][0].interaction) for kind in Work])
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
        ("support-bot", "q-1", moment, "faithfulness", "gpt-test", "0123456789abcdef", "separate", 0.5, None,
         {"statements": []}, 2, 100, 10, 0.25, NOON, "judgement_2031_03"),
        ("support-bot", "q-1", moment, "context_recall", "gpt-test", "", "separate", None, "no_statements",
         {"why": 'a "b" \\ü'}, 2, 100, 10, 0.25, NOON, "judgement_2031_03"),
    ]  # fmt: skip


# --- the ledger ---


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
    with closing(Writer(database, clock, group="other")) as other:
        Reader(writer).write(pending=["a", "b"])
        Reader(writer, partition=1).write(pending=["c"], assessed=["d"])
        Reader(other).write(pending=["a", "e"])
        Reader(other, topic="questions").write(pending=["f"])
    assert in_balance(engine) == {
        ("monitor", TOPIC, 0): (2, 0, 0, 0, 2), ("monitor", TOPIC, 1): (2, 1, 0, 0, 1),
        ("other", TOPIC, 0): (2, 0, 1, 0, 1), ("other", "questions", 0): (1, 0, 0, 0, 1),
    }  # fmt: skip
    with closing(Writer(database, clock, group="whoever works")) as worker:
        assert finish_assessed(worker, assessed(c for c in claim(queue, Work.ASSESS) if c.interaction.id != "b")) == 4
    assert in_balance(engine) == {
        ("monitor", TOPIC, 0): (2, 1, 0, 0, 1), ("monitor", TOPIC, 1): (2, 2, 0, 0, 0),
        ("other", TOPIC, 0): (2, 1, 1, 0, 0), ("other", "questions", 0): (1, 1, 0, 0, 0),
    }  # fmt: skip


def test_what_has_no_ledger_is_assessed_without_one(writer, queue, engine, rows):
    """Standard input has no offsets, and an interaction may have no place at all."""
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
    writers = [Writer(database, clock, group=group) for group in ("one", "two")]
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
    """Two consumers set some aside and assess others, and two workers finish, all in the same rows of the ledger."""
    rounds, done = 100, Event()
    meet = Barrier(4)

    def consume(number):
        chance = random.Random(number)  # noqa: S311  repeatable
        with closing(Writer(database, clock, group=f"group {number}")) as writer:
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
        mine = Pending(engine)
        with closing(Writer(database, clock)) as writer:
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


# --- a rescore beside ---


@pytest.fixture
def rescore(database):
    """Reads again what others have read, under the profile of this hash."""

    def read(profile_hash, *ids_):
        its = [
            an_interaction(id=id_, position=Position(topic=TOPIC, partition=0, offset=n)) for n, id_ in enumerate(ids_)
        ]
        found = [an_assessment(interaction=it, profile_hash=profile_hash) for it in its]
        offset = Offset(
            topic=TOPIC, partition=0, expected=None, begin=0, next=len(ids_), received=len(ids_)
        )  # fmt: skip
        with closing(Writer(database, clock, group=f"rescore {profile_hash}", rescore=profile_hash)) as writer:
            return writer.write(a_batch(*found, offsets=(offset,)))

    return read


def test_what_a_rescore_keeps_pending_is_no_matter_of_the_recount(writer, engine, rescore):
    Reader(writer).write(assessed=["a"])
    assert rescore("another", "a", "not stored") == Tally(received=2, assessed=1, pending=1)
    assert in_balance(engine) == {
        ("monitor", TOPIC, 0): (1, 1, 0, 0, 0), ("rescore another", TOPIC, 0): (2, 1, 0, 0, 1),
    }  # fmt: skip


@pytest.mark.parametrize("profile_hash", ["another", an_assessment().profile_hash], ids=["another", "the live one"])
def test_what_is_pending_gets_its_verdict_though_a_rescore_came_first(
    writer, queue, engine, rows, rescore, profile_hash
):
    Reader(writer).write(pending=["a", "b"])
    rescore(profile_hash, "a")
    assert finish_assessed(writer, assessed(claim(queue))) == 2
    assert in_balance(engine)["monitor", TOPIC, 0] == (2, 2, 0, 0, 0)
    assert rows("SELECT id FROM assessment WHERE live ORDER BY id") == [("a",), ("b",)]
    assert rows("SELECT sum(total)::integer FROM verdict_minute") == [(2,)]


# --- revised verdicts ---

similarities = (
    st.none()
    | st.floats(-1, 1, width=32)
    | st.floats(-1, 1).filter(lambda x: not 0 < abs(x) < 1e-30)
    | st.integers(-20, 20).map(lambda n: n / 20)
)  # the ends of bins too
decided = st.fixed_dictionaries(
    {
        "verdict": st.sampled_from(Verdict),
        "reasons": st.lists(st.sampled_from(Reason), unique=True, max_size=4).map(tuple),
        "metrics": st.builds(Metrics, **dict.fromkeys(METRICS, similarities)),
    }
)
placed = st.fixed_dictionaries(
    {
        "app": st.sampled_from(["a", "b"]),
        "environment": st.sampled_from(["production", "staging"]),
        "model": st.sampled_from([None, "m", "n", "o"]),
        "tags": st.sampled_from([{}, {"topic": "one"}, {"topic": "two"}, {"topic": "three"}, {"topic": "x" * 200}]),
        "occurred_at": st.integers(0, 120).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    }
)
COUNTED = 5 + 1 + len(Verdict) + len(Reason) + len(METRICS)  # columns of ROLLUP before the sums


def rollup(rows):
    """Exact, but for the last digits of the sums."""
    return [
        (*row[:COUNTED], *(pytest.approx(value, abs=1e-9) for value in row[COUNTED : COUNTED + len(METRICS)]),
         *row[COUNTED + len(METRICS) :])
        for row in rows(ROLLUP)
    ]  # fmt: skip


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.lists(st.tuples(placed, decided, st.none() | decided), min_size=1, max_size=12), split=st.integers(0, 12)
)
def test_the_rollup_is_as_if_the_revised_verdicts_had_been_given_at_first(writer, queue, rows, drawn, split):
    everything = "TRUNCATE interaction_key, interaction, assessment, verdict_minute, rollup_label, pending"

    def written(first, revised):
        """Under a cap on labels that some of them go over."""
        rows(everything)
        writer._labels = LabelCap({**MOST_VALUES, "topic": 2, "model": 2})
        found = [
            an_assessment(id=str(n), **where, **(then if revised and then is not None else now), support=A_STAND_IN)
            for n, (where, now, then) in enumerate(first)
        ]
        writer.write(a_batch(*found[:split]))
        writer.write(a_batch(*found[split:]))

    written(drawn, revised=True)
    expected = rows(ROLLUP)
    written(drawn, revised=False)
    claims = {int(c.interaction.id): c for c in claim(queue, Work.SIDECAR)}
    done = [
        (claims[n], an_assessment(interaction=claims[n].interaction, **then, support=FROM_THE_SIDECAR))
        for n, (_, _, then) in enumerate(drawn)
        if then is not None
    ]
    writer._labels.forget()  # as in another process
    assert finish_revised(writer, done, LATER) == []
    assert expected == rollup(rows)
    minutes = rows("SELECT * FROM verdict_minute")
    finish_revised(writer, done, LATER)
    assert rows("SELECT * FROM verdict_minute") == minutes


def test_what_was_before_is_kept_with_the_revision(writer, queue, rows):
    metrics = Metrics(sdq=0.1, sdrd=None, sda=-0.3, qrd=1.0, qa=1 / 3)
    writer.write(a_batch(an_assessment(verdict=Verdict.REFUSAL, metrics=metrics, support=A_STAND_IN)))
    every = "to_jsonb(a) - ARRAY['app', 'id', 'occurred_at', 'live', 'revised_at', 'earlier']"
    ((before,),) = rows(f"SELECT {every} FROM assessment a")  # noqa: S608  this test's own text
    assert rows("SELECT revised_at, earlier FROM assessment") == [(None, None)]
    done = assessed(claim(queue, Work.SIDECAR), support=FROM_THE_SIDECAR)
    finish_revised(writer, done, LATER)
    ((earlier, after),) = rows(f"SELECT earlier, {every} FROM assessment a")  # noqa: S608
    assert rows("SELECT revised_at, live FROM assessment") == [(LATER, True)]
    assert earlier == before
    assert (earlier["verdict"], earlier["sda"], earlier["sdrd"]) == ("refusal", -0.3, None)
    assert earlier["support"]["stands_in"] == {"because": "no answer", "queued": True}
    assert after["verdict"] == "grounded"
    assert after["support"]["origin"] == "sidecar"
    assert rows("SELECT sum(total)::integer, sum(grounded)::integer, sum(refusal)::integer FROM verdict_minute") == [
        (1, 1, 0)
    ]


def test_a_revision_leaves_the_verdict_of_a_rescore_alone(writer, queue, rows, rescore):
    Reader(writer).write(assessed=["a", "b"])
    rescore("another", "a", "b")
    beside = "SELECT * FROM assessment WHERE NOT live ORDER BY id"
    before = rows(beside)
    assert finish_revised(writer, assessed(claim(queue, Work.SIDECAR), verdict=Verdict.REFUSAL), LATER) == []
    assert rows(beside) == before != []
    assert rows("SELECT verdict, revised_at FROM assessment WHERE live") == [("refusal", LATER)] * 2


def test_a_verdict_of_another_profile_is_not_revised_and_that_is_seen(writer, queue, rows, rescore):
    """Nor is that of a rescore under the profile of today."""
    Reader(writer).write(assessed=["a", "b"])
    rescore("of today", "a", "b")
    before = rows("SELECT * FROM assessment ORDER BY id, live"), rows("SELECT * FROM verdict_minute")

    class Today:
        def assess(self, interactions):
            return [
                an_assessment(interaction=it, profile_hash="of today", support=FROM_THE_SIDECAR) for it in interactions
            ]

    work = Queue(pending=queue, now=clock, max_attempts=5)
    worker = AssessingWorker(queue=work, writer=writer, pipeline=Today(), kinds=[Work.ASSESS, Work.SIDECAR])
    assert worker.round() == 2
    assert worker.round() is None
    assert (rows("SELECT * FROM assessment ORDER BY id, live"), rows("SELECT * FROM verdict_minute")) == before
    assert queue.counts(LATER)[0].given_up == 2
    assert all("another profile" in row["last_error"] for row in queue.rows(kind=None, given_up=True, most=9))


def test_a_stand_in_that_is_worth_no_further_call_is_the_end_of_it(writer, queue, rows):
    Reader(writer).write(assessed=["a"])
    final = Support(origin=A_STAND_IN.origin, documents=(), stands_in=StandIn(because="model_refused", queued=False))

    class Refused:
        def assess(self, interactions):
            return [an_assessment(interaction=it, support=final) for it in interactions]

    work = Queue(pending=queue, now=clock, max_attempts=5)
    worker = AssessingWorker(queue=work, writer=writer, pipeline=Refused(), kinds=[Work.SIDECAR])
    assert worker.round() == 1
    assert the_queue(rows) == [("judge", "a")]
    assert rows("SELECT support -> 'stands_in' ->> 'because' FROM assessment") == [("model_refused",)]


def test_revisions_of_the_same_minute_at_once_are_all_counted(database, engine, rows):
    with closing(Writer(database, clock, follow_ups=lambda _: [Work.SIDECAR])) as writer:
        writer.write(a_batch(*(an_assessment(id=str(n), model=f"m{n % 5}") for n in range(120))))
    meet = Barrier(3)

    def work(_):
        mine = Pending(engine)
        with closing(Writer(database, clock)) as writer:
            meet.wait()
            while claims := claim(mine, most=5):
                assert finish_revised(writer, assessed(claims, verdict=Verdict.REFUSAL, reasons=()), LATER) == []

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(3)))
    assert rows("SELECT sum(total)::integer, sum(grounded)::integer, sum(refusal)::integer FROM verdict_minute") == [
        (120, 0, 120)
    ]
    assert rows("SELECT count(*) FROM assessment WHERE revised_at IS NULL") == [(0,)]
