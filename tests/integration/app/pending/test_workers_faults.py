"""Workers outlive defects, lost connections and lapsed leases, and do each piece once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event
from typing import Any

import pytest

from monitor.app.pending import queue
from monitor.app.pending import workers as working_off
from monitor.app.pending.assessing import AssessingWorker
from monitor.app.pending.judging import JudgingWorker
from monitor.app.pending.queue import Queue
from monitor.app.pending.workers import work_off, working
from monitor.app.wiring.application import Application, utc_now
from monitor.assess.judge.metric import Outcome
from monitor.assess.llm.exchange import BudgetSpent
from monitor.core.errors import Fatal
from monitor.core.pending import Work
from monitor.core.settings.load import load_settings
from monitor.store.interaction.writer import Writer
from monitor.store.pending.queue import PendingQueue
from tests.factories.answers import (
    NOON,
    a_batch,
    a_judgement,
    an_assessment,
    an_interaction,
    clock,
)
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.workers import FOR_EVER, judged, judging, no_worker_left
from tests.rig.waiting import until
from tests.servers.llm import (
    hang,
    llm_server,
)


@pytest.fixture
def to_judge(database):
    """So many interactions that wait for the judge."""

    def queue(number):
        with closing(Writer(database, clock, follow_ups=lambda _: [Work.JUDGE], queue_key=QUEUE_KEY)) as writer:
            writer.write(a_batch(*(an_assessment(id=f"q-{n}", answer=f"For {n} days.") for n in range(number))))

    return queue


@dataclass
class Pieces:
    """A judge whose tasks do what the test says of each answer."""

    does: Callable[[str], Any] = lambda _: None  # it may return judgements of its own
    asked: list[str] = field(default_factory=list)

    def tasks(self, case):
        def task():
            self.asked.append(case.answer)
            return self.does(case.answer) or [a_judgement()]

        return [task]


@pytest.fixture
def judge_worker(database, engine):
    with ExitStack() as stack:

        def made(judge, *, now=clock, concurrency=4):
            writer = Writer(database, now, queue_key=QUEUE_KEY)
            queue = Queue(pending=PendingQueue(engine), now=now, max_attempts=3)
            worker = JudgingWorker(queue=queue, writer=writer, judge=judge, concurrency=concurrency)
            stack.callback(worker.close)
            return worker

        yield made


def through(worker) -> int:
    """How many pieces it is through with when nothing is left to do."""
    taken = 0
    while (done := worker.round()) is not None:
        taken += done
    return taken


def test_a_defect_that_one_answer_brings_out_does_not_stop_the_judge(to_judge, judge_worker, rows, caplog):
    to_judge(12)

    def does(answer_):
        if answer_ == "For 7 days.":
            raise ZeroDivisionError("a defect")

    worker = judge_worker(Pieces(does))
    assert through(worker) == 12
    assert judged(rows) == [(11, 11)]
    assert rows("SELECT interaction_id, attempts, last_error FROM pending") == [
        ("q-7", 1, "ZeroDivisionError: a defect")
    ]
    assert "Traceback" in caplog.text


@pytest.mark.parametrize(
    "bad",
    [{"outcome": Outcome(score=0.5, reason="\0")}, {"model": " ".join(str(n**3) for n in range(1_000))}],
    ids=["no text", "too long to index"],
)
def test_a_judgement_that_cannot_be_stored_costs_the_others_of_its_round_nothing(to_judge, judge_worker, rows, bad):
    to_judge(6)
    judge = Pieces(lambda answer_: [a_judgement(**bad)] if answer_ == "For 3 days." else [a_judgement()])
    worker = judge_worker(judge)
    worker.take(worker.queue.claim([Work.JUDGE], 6))
    wait([task for _, tasks in worker._in_progress for task in tasks])
    assert worker.step() == 6
    assert judged(rows) == [(5, 5)]
    assert rows("SELECT interaction_id, attempts, claim FROM pending") == [("q-3", 1, None)]
    assert len(judge.asked) == 6


def test_the_judge_goes_on_when_a_clock_that_was_ahead_is_set_right(to_judge, judge_worker, rows):
    to_judge(8)
    time, spent = [NOON + timedelta(days=1)], [BudgetSpent("spent", retry_after=36_000.0)]

    def does(_):
        if spent:
            raise spent[0]

    worker = judge_worker(Pieces(does), now=lambda: time[0], concurrency=1)
    assert through(worker) == 2
    spent.clear()
    time[0] = NOON
    through(worker)
    assert judged(rows) == [(6, 6)]


class Assessing:
    """A pipeline that cannot assess the interactions of these ids, or makes something that cannot be stored."""

    def __init__(self, error=None, *, bad=(), **made):
        self._error, self._bad, self._made = error, bad, made

    def assess(self, interactions):
        if self._error and any(it.id in self._bad for it in interactions):
            raise self._error
        return [an_assessment(interaction=it, **(self._made if it.id in self._bad else {})) for it in interactions]


@pytest.mark.parametrize(
    "pipeline",
    [
        Assessing(Fatal("refused"), bad={"b"}),
        Assessing(ZeroDivisionError("a defect"), bad={"b"}),
        Assessing(bad={"b"}, profile_name="\0"),  # which no text of Postgres may hold
    ],
    ids=["refused", "a defect", "cannot be stored"],
)
def test_one_that_cannot_be_assessed_does_not_keep_the_others_from_it(database, engine, rows, pipeline):
    with closing(Writer(database, clock, queue_key=QUEUE_KEY)) as writer:
        writer.write(a_batch(pending=tuple(an_interaction(id=id_) for id_ in "abc"), received=3))
        queue = Queue(pending=PendingQueue(engine), now=clock, max_attempts=1)
        worker = AssessingWorker(queue=queue, writer=writer, assess=pipeline.assess, kinds=[Work.ASSESS])
        assert through(worker) == 3
    assert rows("SELECT id FROM assessment ORDER BY id") == [("a",), ("c",)]
    assert rows("SELECT interaction_id, given_up FROM pending") == [("b", True)]


def test_a_thread_of_a_worker_outlives_whatever_goes_wrong_in_it(database, to_judge, rows, monkeypatch, caplog):
    monkeypatch.setattr(working_off, "_IDLE", 0.01)
    errors = iter([ZeroDivisionError("a defect"), Fatal("refused")])
    claim = PendingQueue.claim

    def failing(self, *arguments, **options):
        if (error := next(errors, None)) is not None:
            raise error
        return claim(self, *arguments, **options)

    monkeypatch.setattr(PendingQueue, "claim", failing)
    to_judge(3)
    with llm_server() as server:
        settings = load_settings(database_url=database, embedding={"provider": "hash"}, **judging(server))
        with Application(settings) as application, working(application):
            until("all are judged", lambda: judged(rows) == [(3, 3)])
    assert "a defect" in caplog.text


def test_a_database_that_goes_away_again_and_again_costs_no_judgement(database, to_judge, rows, monkeypatch):
    monkeypatch.setattr(working_off, "_IDLE", 0.01)
    monkeypatch.setattr(queue, "LEASE", timedelta(seconds=2))
    to_judge(40)
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    with llm_server() as server:
        settings = load_settings(
            database_url=database, embedding={"provider": "hash"}, **judging(server, concurrency=2)
        )
        with Application(settings) as application, working(application):
            for least in (5, 15, 25):
                until(f"{least} are judged", lambda least=least: judged(rows)[0][0] >= least)
                rows(kill)

            def all_done():
                PendingQueue(application.engine).revive(utc_now(), kind=None)
                return judged(rows) == [(40, 40)] and rows("SELECT count(*) FROM pending") == [(0,)]

            until("all are judged", all_done)


def test_a_slow_round_is_not_waited_for_when_the_program_ends(database, to_judge, rows, monkeypatch):
    """It goes on in vain: its claims lapse, and another worker does the work."""
    monkeypatch.setattr(working_off, "GRACE", 0.1)
    to_judge(4)
    with llm_server() as server:
        server.chat_script.extend([hang(FOR_EVER)] * 1000)
        settings = load_settings(
            database_url=database, embedding={"provider": "hash"}, **judging(server, concurrency=1)
        )
        with Application(settings) as application:
            with working(application):
                until("the judge was asked", lambda: server.chats)
            assert judged(rows) == [(0, 0)]
    until("the calls have ended with the server", no_worker_left)
    with llm_server() as server:
        settings = load_settings(database_url=database, embedding={"provider": "hash"}, **judging(server))
        with Application(settings, now=lambda: utc_now() + timedelta(hours=1)) as application:
            assert work_off(application, Event()) == 4
    assert judged(rows) == [(4, 4)]


def test_a_worker_that_comes_back_after_its_lease_stores_nothing(to_judge, judge_worker, rows):
    to_judge(3)
    at_it, go_on = Event(), Event()

    def does(_):
        at_it.set()
        go_on.wait(60)

    slow = judge_worker(Pieces(does))
    other = judge_worker(Pieces(), now=lambda: NOON + timedelta(hours=1))
    with ThreadPoolExecutor(1) as pool:
        coming_back = pool.submit(through, slow)
        at_it.wait(60)
        assert through(other) == 3
        moments = rows("SELECT id, judged_at FROM judgement ORDER BY id")
        go_on.set()
        assert coming_back.result() == 3
    assert rows("SELECT id, judged_at FROM judgement ORDER BY id") == moments
    assert judged(rows) == [(3, 3)]
    assert rows("SELECT count(*) FROM pending") == [(0,)]


def test_two_workers_at_once_do_each_piece_once(to_judge, judge_worker, rows):
    to_judge(60)
    judges = [Pieces(), Pieces()]
    found = [judge_worker(judge, concurrency=2) for judge in judges]

    def work(worker):
        while worker.round() is not None:
            pass

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, found))
    assert Counter(judges[0].asked + judges[1].asked) == Counter(f"For {n} days." for n in range(60))
    assert judged(rows) == [(60, 60)]


def test_a_run_that_is_stopped_takes_nothing_more(database, to_judge, rows):
    to_judge(3)
    stop = Event()
    stop.set()
    with llm_server() as server:
        settings = load_settings(database_url=database, embedding={"provider": "hash"}, **judging(server))
        with Application(settings) as application:
            assert work_off(application, stop) == 0
    assert judged(rows) == [(0, 0)]
