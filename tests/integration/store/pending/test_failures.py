"""Pending work that fails waits longer each time, and is counted and listed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.app.pending.queue import Queue
from monitor.assess.llm.exchange import BudgetSpent
from monitor.core.errors import Fatal, Retriable
from monitor.core.pending import Work
from monitor.store.pending.queue import PendingCount
from tests.factories.answers import (
    A_STAND_IN,
    NOON,
    a_batch,
    an_assessment,
    at,
    clock,
)
from tests.rig.store.pending_work import LATER, claim, ids, set_aside


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
        kind=Work.ASSESS,
        waiting=4,
        due=1,
        claimed=2,
        failed=2,
        given_up=1,
        oldest=NOON,
        last_error="another error",
    )
    assert counts[Work.JUDGE] == PendingCount(
        kind=Work.JUDGE,
        waiting=1,
        due=1,
        claimed=0,
        failed=0,
        given_up=0,
        oldest=NOON,
        last_error=None,
    )
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
