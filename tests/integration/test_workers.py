"""Events that flow while a provider is away, and the workers that make up for it: all is done, and nothing twice."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from threading import Event
from threading import enumerate as threads
from typing import Any

import psycopg
import pytest

from monitor.app.pending import queue
from monitor.app.pending import workers as working_off
from monitor.app.pending.assessing import AssessingWorker
from monitor.app.pending.judging import JudgingWorker
from monitor.app.pending.queue import Queue
from monitor.app.pending.workers import work_off, working
from monitor.app.wiring.application import Application, utc_now
from monitor.core.errors import Fatal
from monitor.core.message import Offset, Position
from monitor.core.model import Tally, Work
from monitor.core.settings.load import Settings, load_settings
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.ledger import Ledger
from monitor.store.pending.queue import Pending
from tests.factories.answers import (
    A_STAND_IN,
    NOON,
    a_batch,
    a_judgement,
    a_message,
    an_assessment,
    an_interaction,
    clock,
)
from tests.integration.test_writer import ROLLUP
from tests.rig.consuming import answer, consuming, settings_for
from tests.rig.kafka_cluster import create_topic, new_topic_name, produce
from tests.rig.waiting import until
from tests.servers.llm import (
    CHAT_MODEL,
    CUT,
    HANG_UP,
    KEY,
    hang,
    llm_server,
    model_refusal,
    not_json,
    refusal,
    said,
    server_error,
    too_many_requests,
    trickle,
)

ROOT = Path(__file__).parents[2]
TOPIC = "answers"
FOR_EVER = 3600
EVERYTHING = (
    "SELECT app, id, occurred_at, verdict, rule_verdict, reasons, refusal_kind, p_grounded, p_refusal, sdq, sdrd, sda,"
    " qrd, qa, features, support, profile_hash, live FROM assessment ORDER BY app, id"
)


@dataclass
class Partition:
    """Messages as a reader of one partition of Kafka gives them."""

    values: list[bytes]
    reached: int = 0
    told: int = 0

    def poll(self, *, max_messages: int, **_: object) -> list[Any] | None:
        given = [
            a_message(value, position=Position(topic=TOPIC, partition=0, offset=self.reached + n))
            for n, value in enumerate(self.values[self.reached : self.reached + max_messages])
        ]
        self.reached += len(given)
        return given or None

    def offsets(self) -> list[Offset]:
        found = Offset(
            topic=TOPIC, partition=0, expected=self.told or None, begin=self.told, next=self.reached,
            received=self.reached - self.told,
        )  # fmt: skip
        self.told = self.reached
        return [found] if found.received else []

    def hold(self) -> None: ...

    def stored(self, offsets: object) -> None: ...

    def close(self) -> None: ...


def flow(application: Application, values: list[bytes], *, start: int = 0) -> Tally:
    """All of them from `start` on as `consume` does it, but without its workers."""
    application.prepare()
    stages = application.stages(
        Partition(values, start, start), app=None, dialect=None, stop=Event(), written=lambda *_: None, set_aside=True
    )
    return stages.run()


def in_balance(engine):
    rows, recounted = Ledger(engine).read(recount=True)
    assert [row for row in rows if not row.balanced] + [one for one in recounted if not one.balanced] == []
    names = ("received", "assessed", "duplicate", "dead", "pending")
    return Counter({name: sum(row.counts[name] for row in rows) for name in names})


def event(n: int) -> bytes:
    return answer(f"q-{n}", answer=f"Deleted snapshots are kept for {n} days.")


@pytest.fixture
def control(new_database, migrated_template):
    """What a database would hold that no provider ever failed."""

    def found(settings: Settings, values: list[bytes]) -> tuple[list[tuple], list[tuple]]:
        url, patient = new_database(migrated_template), settings.sidecar.model_copy(update={"patience": 60.0})
        with Application(replace_settings(settings, database_url=url, sidecar=patient)) as application:
            flow(application, values)
        with psycopg.connect(url, options="-c timezone=UTC") as connection:
            return connection.execute(EVERYTHING).fetchall(), connection.execute(ROLLUP).fetchall()

    return found


def replace_settings(settings: Settings, **over: Any) -> Settings:
    return Settings(**{**{name: getattr(settings, name) for name in settings.model_fields_set}, **over})


def llm(server, **over):
    return {"base_url": server.base_url, "api_key": KEY, "model": CHAT_MODEL, **over}


# --- the embedder is away ---


@pytest.fixture
def embedding(database):
    """Settings with an embedder on this server, for which a batch waits half a second."""

    def made(server, **over) -> Settings:
        provider = {"provider": "openai", "base_url": server.base_url, "api_key": KEY}
        known = {"pending": {"after": 0.6}, "ingest": {"batch_events": 3}, **over}
        return load_settings(database_url=database, embedding=provider, **known)

    return made


def tries(server) -> list[int]:
    """How often each event was to be embedded that was the newest one then."""
    texts = [f"Deleted snapshots are kept for {n} days." for n in range(5)]
    newest = Counter(max(n for n in range(5) if texts[n] in request["input"]) for request in server.requests)
    return [newest[n] for n in range(5)]


def test_what_cannot_be_assessed_is_set_aside_and_assessed_once_the_embedder_is_back(embedding, control, engine, rows):
    away = too_many_requests(0)  # is tried again after a quarter of a second
    values = [
        event(0), b"no JSON", event(0),
        event(1), b"no JSON either", event(0),
        event(2), b"[]", event(1),
        event(3), b"{}", event(0),
        event(4), b"", event(3),
    ]  # fmt: skip
    with llm_server() as server:
        settings = embedding(server)
        expected = control(settings, values)
        server.requests.clear()
        server.script.extend([*[away] * 3, away, away, None, *[away] * 2, None])
        with Application(settings) as application:
            assert flow(application, values) == Tally(received=15, assessed=2, pending=3, duplicate=5, dead=5)
            assert tries(server) == [3, 1, 1, 1, 3]  # patient again after the one that succeeded
            assert in_balance(engine) == Counter(received=15, assessed=2, pending=3, duplicate=5, dead=5)
            assert rows("SELECT sum(total)::integer FROM verdict_minute") == [(2,)]
            assert work_off(application, Event()) == 3
            assert work_off(application, Event()) == 0
    assert in_balance(engine) == Counter(received=15, assessed=5, duplicate=5, dead=5)
    assert (rows(EVERYTHING), rows(ROLLUP)) == expected
    assert rows("SELECT count(*) FROM pending") == [(0,)]
    assert rows("SELECT count(*), count(DISTINCT problem) FROM dead_letter") == [(5, 4)]


def test_workers_wait_for_the_embedder_too_and_what_comes_meanwhile_goes_on(embedding, engine, rows):
    with llm_server() as server:
        server.script.extend([HANG_UP] * 1000)
        with Application(embedding(server, pending={"after": 0.0}), now=clock) as application:
            assert flow(application, [event(n) for n in range(6)]).pending == 6
            assert work_off(application, Event()) == 6
            assert work_off(application, Event()) == 0
            assert rows("SELECT DISTINCT attempts, not_before FROM pending") == [(1, NOON + timedelta(seconds=5))]
            ((said_,),) = rows("SELECT DISTINCT last_error FROM pending")
            assert "out of reach" in said_
            server.script.clear()
            assert flow(application, [event(n) for n in range(9)], start=6).assessed == 3  # before the others
            Pending(engine).revive(NOON, kind=None)
            assert work_off(application, Event()) == 6
    assert in_balance(engine)["assessed"] == 9
    assert rows("SELECT sum(total)::integer FROM verdict_minute") == [(9,)]


def test_an_embedder_that_refuses_stops_the_flow_and_nothing_is_set_aside(embedding, rows):
    with (
        llm_server(key="another") as server,
        Application(embedding(server)) as application,
        pytest.raises(Fatal, match="API key"),
    ):
        flow(application, [event(0)])
    assert rows("SELECT count(*) FROM interaction") == [(0,)]


# --- the sidecar fails ---

TROUBLES = {
    "it hangs up": HANG_UP,
    "it stops midway": CUT,
    "it breaks down": server_error(),
    "it has too much to do": too_many_requests(),
    "it wants to be left alone": too_many_requests(FOR_EVER),
    "a proxy answers": not_json(),
    "it hangs": hang(FOR_EVER),
    "it trickles": trickle(FOR_EVER),
    "the key is wrong": refusal(401, "Incorrect API key"),
    "there is no such model": refusal(404, "no such model"),
}
ANSWERS = {
    "it says nothing that was asked for": said("I am not sure."),
    "it says too much": said('{"supporting_documents": ["', finish_reason="length"),
    "it says the wrong thing": said('{"supporting_documents": [{"text": 1}]}'),
    "it declines": model_refusal("I cannot help with that."),
    "it filters": said("", finish_reason="content_filter"),
    "it refuses the request": refusal(400, "This request is not to my liking."),
}


@pytest.fixture
def asking(database):
    """Settings with a sidecar on this server, which has half a second for a batch."""

    def made(server, **over) -> Settings:
        known = {"sidecar": {"mode": "explain", "patience": 0.5}, "ingest": {"batch_events": 4}}
        return load_settings(
            database_url=database, embedding={"provider": "hash"}, llm=llm(server), **{**known, **over}
        )

    return made


def origins(rows):
    return sorted(rows("SELECT support ->> 'origin', support -> 'stands_in' ->> 'queued' FROM assessment"))


@pytest.mark.parametrize("trouble", TROUBLES.values(), ids=TROUBLES)
def test_whatever_happens_to_the_sidecar_events_are_assessed_and_it_is_asked_later(
    asking, control, engine, rows, trouble
):
    values = [*(event(n) for n in range(8)), b"no JSON", event(0)]
    with llm_server() as server:
        settings = asking(server)
        expected = control(settings, values)
        server.chat_script.extend([trouble] * 1000)
        with Application(settings) as application:
            assert flow(application, values) == Tally(received=10, assessed=8, dead=1, duplicate=1)
        assert origins(rows) == [("extractive", "true")] * 8
        assert rows("SELECT kind, count(*) FROM pending GROUP BY kind") == [("sidecar", 8)]
        server.chat_script.clear()
        with Application(settings) as application:  # a new process knows nothing of the server's troubles
            assert work_off(application, Event()) == 8
            assert work_off(application, Event()) == 0
    assert (rows(EVERYTHING), rows(ROLLUP)) == expected
    assert origins(rows) == [("sidecar", None)] * 8
    assert rows("SELECT count(*) FROM assessment WHERE revised_at IS NULL OR earlier IS NULL") == [(0,)]
    assert rows("SELECT count(*) FROM pending") == [(0,)]
    assert in_balance(engine) == Counter(received=10, assessed=8, dead=1, duplicate=1)


@pytest.mark.parametrize("trouble", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_would_be_no_better_later_is_not_asked_for_again(asking, rows, trouble):
    with llm_server() as server:
        server.chat_script.extend([trouble] * 1000)
        with Application(asking(server, sidecar={"mode": "explain"})) as application:
            assert flow(application, [event(n) for n in range(4)]).assessed == 4
    assert origins(rows) == [("extractive", "false")] * 4
    assert rows("SELECT count(*) FROM pending") == [(0,)]


def test_a_sidecar_that_stays_away_is_asked_later_and_later_and_given_up_in_the_end(asking, engine, rows):
    with llm_server() as server:
        server.chat_script.extend([refusal(401, "Incorrect API key")] * 1000)
        settings = asking(server, pending={"max_attempts": 2})
        with Application(settings, now=clock) as application:
            flow(application, [event(0)])
            assert work_off(application, Event()) == 1
            assert rows("SELECT attempts, given_up, not_before FROM pending") == [
                (1, False, NOON + timedelta(seconds=5))
            ]
        with Application(settings, now=lambda: NOON + timedelta(seconds=5)) as application:
            assert work_off(application, Event()) == 1
        (count,) = Pending(engine).counts(NOON)
        assert (count.given_up, count.waiting) == (1, 0)
        assert "API key" in str(count.last_error)
        server.chat_script.clear()
        with Application(settings, now=clock) as application:
            assert work_off(application, Event()) == 0
            assert Pending(engine).revive(NOON, kind=Work.SIDECAR) == 1
            assert work_off(application, Event()) == 1
    assert origins(rows) == [("sidecar", None)]


def test_workers_at_work_while_events_flow_store_each_once(asking, control, engine, rows, monkeypatch):
    """Every eighth call fails, by turns in three ways."""
    monkeypatch.setattr(working_off, "_IDLE", 0.01)
    values = [event(n) for n in range(48)]
    with llm_server() as server:
        over = {"sidecar": {"mode": "explain", "patience": 0.5}, "ingest": {"batch_events": 16}}
        settings = asking(server, **over)
        expected = control(settings, values)
        server.fail_rate = 0.125
        with Application(settings) as application, working(application):
            assert flow(application, values).assessed == 48
            server.fail_rate = 0.0

            def all_done():
                Pending(engine).revive(utc_now(), kind=None)
                return rows("SELECT count(*) FROM pending") == [(0,)]

            until("the queue is empty", all_done)
    assert (rows(EVERYTHING), rows(ROLLUP)) == expected
    assert in_balance(engine)["assessed"] == 48


# --- the judge ---


def judging(server, **over):
    """Settings for a judge who judges everything, with one call for each."""
    judge = {"mode": "separate", "metrics": ["answer_relevance"], "sample": {"rest": 1.0}, "budget_share": 1.0}
    return {"llm": llm(server), "judge": {**judge, **over}}


@pytest.fixture
def to_judge(database):
    """So many interactions that wait for the judge."""

    def queue(number):
        with closing(Writer(database, clock, follow_ups=lambda _: [Work.JUDGE])) as writer:
            writer.write(a_batch(*(an_assessment(id=f"q-{n}", answer=f"For {n} days.") for n in range(number))))

    return queue


def asked_about(server) -> Counter[str]:
    """How often the model was asked about each answer."""
    return Counter(line for chat in server.chats for line in chat.user.splitlines() if "days." in line)


def judged(rows) -> list[tuple]:
    return rows("SELECT count(*), count(DISTINCT (app, id)) FROM judgement")


@pytest.fixture
def topic(kafka):
    return create_topic(kafka, new_topic_name(), partitions=2)


def consumer_settings(kafka: str, database: str, topic: str, over: dict[str, Any], **options: Any) -> Settings:
    return replace_settings(
        settings_for(kafka, database, topic, **options), **{k: getattr(load_settings(**over), k) for k in over}
    )


def no_worker_left():
    return not [thread for thread in threads() if thread.name in {"JudgingWorker", "AssessingWorker"}]


def test_a_judge_that_hangs_for_ever_holds_up_no_event_and_no_stop(kafka, topic, database, engine, rows, monkeypatch):
    monkeypatch.setattr(working_off, "GRACE", 0.5)
    with llm_server() as server:
        server.chat_script.extend([hang(FOR_EVER)] * 1000)
        settings = consumer_settings(kafka, database, topic, judging(server))
        produce(kafka, topic, [event(n) for n in range(10)])
        with consuming(settings) as consumer:
            until("the judge was asked", lambda: server.chats)
            produce(kafka, topic, [event(n) for n in range(10, 40)])
            until("all are stored", lambda: rows("SELECT count(*) FROM assessment") == [(40,)])
            assert consumer.stopped() == Tally(received=40, assessed=40)
    until("the calls have ended with the server", no_worker_left)
    assert in_balance(engine)["assessed"] == 40
    assert judged(rows) == [(0, 0)]
    assert rows("SELECT kind, count(*) FROM pending GROUP BY kind") == [("judge", 40)]


def test_two_consumers_share_the_queue_and_nothing_is_judged_twice(kafka, topic, database, engine, rows):
    with llm_server(latency=0.02) as server, ExitStack() as stack:
        settings = consumer_settings(kafka, database, topic, judging(server, concurrency=2))
        for first in (0, 10):
            stack.enter_context(consuming(settings))
            produce(kafka, topic, [event(n) for n in range(first, first + 10)])
            until("it is at work", lambda first=first: judged(rows)[0][0] > first)
        produce(kafka, topic, [event(n) for n in range(20, 60)])
        until("all are judged", lambda: judged(rows) == [(60, 60)])
        until("nothing waits", lambda: rows("SELECT count(*) FROM pending") == [(0,)])
    assert set(asked_about(server).values()) == {1}
    assert len(server.chats) == 60
    assert in_balance(engine)["assessed"] == 60


def test_a_consumer_that_is_killed_while_it_judges_loses_nothing_and_doubles_nothing(
    kafka, topic, database, engine, rows, tmp_path
):
    produce(kafka, topic, [event(n) for n in range(20)])
    with llm_server() as server:
        server.chat_script.extend([*[None] * 5, *[hang(FOR_EVER)] * 100])
        named = {
            "DATABASE_URL": database, "STATE_DIR": str(tmp_path), "EMBEDDING__PROVIDER": "hash",
            "KAFKA__BOOTSTRAP_SERVERS": kafka, "KAFKA__TOPICS": topic, "INGEST__BATCH_MS": "50",
            "JUDGE__MODE": "separate", "JUDGE__METRICS": '["answer_relevance"]', "JUDGE__SAMPLE__REST": "1",
            "JUDGE__CONCURRENCY": "1",
            "LLM__BASE_URL": server.base_url, "LLM__API_KEY": KEY, "LLM__MODEL": CHAT_MODEL,
        }  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **{f"MONITOR_{n}": v for n, v in named.items()}}
        with (tmp_path / "said").open("w") as log, subprocess.Popen(
            [sys.executable, "-m", "monitor", "consume"], env=environment, cwd=tmp_path, stdout=log, stderr=log,
            start_new_session=True,
        ) as process:  # fmt: skip
            try:
                until("all are stored", lambda: rows("SELECT count(*) FROM assessment") == [(20,)])
                until("some are judged", lambda: judged(rows) == [(5, 5)])
                until("it is at others", lambda: len(server.chats) == 6)
            finally:
                os.killpg(process.pid, signal.SIGKILL)  # with the process beside it that judges
        server.chat_script.clear()
        with Application(
            load_settings(database_url=database, embedding={"provider": "hash"}, **judging(server))
        ) as app:
            work_off(app, Event())
            ((early, _),) = judged(rows)
            assert early < 20  # what is claimed is not taken from another before its lease has lapsed
            rows("UPDATE pending SET not_before = now() - interval '1 second'")
            work_off(app, Event())
    assert judged(rows) == [(20, 20)]
    assert rows("SELECT count(*) FROM pending") == [(0,)]
    assert in_balance(engine) == Counter(received=20, assessed=20)
    assert rows("SELECT sum(total)::integer FROM verdict_minute") == [(20,)]


# --- workers themselves ---


@dataclass
class Pieces:
    """A judge whose tasks do what the test says of each answer."""

    does: Callable[[str], Any] = lambda _: None
    asked: list[str] = field(default_factory=list)

    def tasks(self, case):
        def task():
            self.asked.append(case.answer)
            self.does(case.answer)
            return [a_judgement()]

        return [task]


@pytest.fixture
def judge_worker(database, engine):
    with ExitStack() as stack:

        def made(judge, *, now=clock, concurrency=4):
            writer = Writer(database, now)
            queue = Queue(pending=Pending(engine), now=now, max_attempts=3)
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


def raising(error):
    def does(_):
        raise error

    return does


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


class Assessing:
    """A pipeline that cannot assess the interactions of these ids, or makes something that cannot be stored."""

    def __init__(self, error=None, *, bad=(), **made):
        self._error, self._bad, self._made = error, bad, made

    def assess(self, interactions):
        if self._error and any(it.id in self._bad for it in interactions):
            raise self._error
        return [
            an_assessment(interaction=it, **(self._made if it.id in self._bad else {})) for it in interactions
        ]  # fmt: skip


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
    with closing(Writer(database, clock)) as writer:
        writer.write(a_batch(pending=tuple(an_interaction(id=id_) for id_ in "abc"), received=3))
        queue = Queue(pending=Pending(engine), now=clock, max_attempts=1)
        worker = AssessingWorker(queue=queue, writer=writer, pipeline=pipeline, kinds=[Work.ASSESS])
        assert through(worker) == 3
    assert rows("SELECT id FROM assessment ORDER BY id") == [("a",), ("c",)]
    assert rows("SELECT interaction_id, given_up FROM pending") == [("b", True)]


def test_a_thread_of_a_worker_outlives_whatever_goes_wrong_in_it(database, to_judge, rows, monkeypatch, caplog):
    monkeypatch.setattr(working_off, "_IDLE", 0.01)
    errors = iter([ZeroDivisionError("a defect"), Fatal("refused")])
    claim = Pending.claim

    def failing(self, *arguments, **options):
        if (error := next(errors, None)) is not None:
            raise error
        return claim(self, *arguments, **options)

    monkeypatch.setattr(Pending, "claim", failing)
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
                Pending(application.engine).revive(utc_now(), kind=None)
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


def test_what_follows_a_revision_is_done_in_the_same_run(database, asking, rows):
    """The interaction is assessed late, then asked about, then judged by the verdict that this gives."""
    with llm_server() as server:
        with closing(Writer(database, clock)) as writer:
            writer.write(a_batch(pending=(an_interaction(),), received=1))
        server.chat_script.append(refusal(401, "Incorrect API key"))
        over = judging(server)
        settings = asking(server, judge=over["judge"])
        with Application(settings) as application:
            assert work_off(application, Event()) == 3
    assert origins(rows) == [("sidecar", None)]
    assert judged(rows) == [(1, 1)]
    assert rows("SELECT count(*) FROM pending") == [(0,)]


@contextmanager
def quiet():
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)


def test_without_a_sidecar_its_work_waits_until_there_is_one_again(database, asking, rows):
    with (
        closing(Writer(database, clock, follow_ups=lambda _: [Work.SIDECAR])) as writer,
        llm_server() as server,
        quiet(),
    ):
        settings = asking(server)
        with Application(settings) as application:
            writer.write(a_batch(an_assessment(support=A_STAND_IN, profile_hash=application.profile.hash)))
        with Application(replace_settings(settings, sidecar=load_settings().sidecar)) as application:
            assert work_off(application, Event()) == 0
        with Application(settings) as application:
            assert work_off(application, Event()) == 1
    assert origins(rows) == [("sidecar", None)]


def test_a_run_that_is_stopped_takes_nothing_more(database, to_judge, rows):
    to_judge(3)
    stop = Event()
    stop.set()
    with llm_server() as server:
        settings = load_settings(database_url=database, embedding={"provider": "hash"}, **judging(server))
        with Application(settings) as application:
            assert work_off(application, stop) == 0
    assert judged(rows) == [(0, 0)]


def test_what_the_sidecar_was_not_through_with_is_left_to_others_at_the_end(asking, rows, monkeypatch):
    monkeypatch.setattr(working_off, "GRACE", 0.1)
    with llm_server() as server:
        server.chat_script.append(refusal(401, "Incorrect API key"))
        with Application(asking(server)) as application:
            application.prepare()
            flow(application, [event(0)])
            rows("UPDATE pending SET not_before = now() - interval '1 second'")
            server.chat_script.extend([hang(FOR_EVER)] * 10)
            asked = len(server.chats)
            with working(application):
                until("it is asked again", lambda: len(server.chats) > asked)
            assert rows("SELECT claim, attempts, not_before <= now() FROM pending") == [(None, 0, True)]


def test_the_prompts_behind_every_hash_are_kept_in_words(asking, rows):
    with llm_server() as server:
        over = judging(server, mode="separate", metrics=["faithfulness", "context_relevance"])
        with Application(asking(server, judge=over["judge"])) as application:
            application.prepare()
            flow(application, [event(0)])
            work_off(application, Event())
    kept = dict(rows("SELECT hash, prompts FROM prompt"))
    ((sidecar,),) = rows("SELECT support #>> '{sidecar,prompt_hash}' FROM assessment")
    assert [prompt["name"] for prompt in kept[sidecar]] == ["explain.v1"]
    by = dict(rows("SELECT metric, prompt_hash FROM judgement"))
    names = {metric: [prompt["name"] for prompt in kept[hash_]] for metric, hash_ in by.items()}
    assert names["context_relevance"] == ["context_relevance.v1"]
    assert names["faithfulness"] == ["faithfulness_statements.v1", "faithfulness_verdicts.v1"]
    assert all(set(prompt) == {"name", "text", "schema"} for prompts in kept.values() for prompt in prompts)
