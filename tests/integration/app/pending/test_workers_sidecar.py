"""Workers ask the sidecar later where it failed."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import closing, contextmanager
from datetime import timedelta
from threading import Event

import pytest

from monitor.app.pending import workers as working_off
from monitor.app.pending.workers import work_off, working
from monitor.app.wiring.application import Application, utc_now
from monitor.core.batch import Tally
from monitor.core.pending import Work
from monitor.core.settings.load import Settings, load_settings
from monitor.store.interaction.writer import Writer
from monitor.store.pending.queue import PendingQueue
from tests.factories.answers import (
    A_STAND_IN,
    NOON,
    a_batch,
    an_assessment,
    an_interaction,
    clock,
)
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.workers import (
    EVERYTHING,
    FOR_EVER,
    event,
    flow,
    in_balance,
    judged,
    judging,
    llm,
    no_worker_left,
    replace_settings,
)
from tests.rig.store.writing import ROLLUP
from tests.rig.waiting import until
from tests.servers.llm import (
    CUT,
    HANG_UP,
    completed,
    hang,
    llm_server,
    model_refusal,
    not_json,
    refusal,
    server_error,
    too_many_requests,
    trickle,
)

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
    "it says nothing that was asked for": completed("I am not sure."),
    "it says too much": completed('{"supporting_documents": ["', finish_reason="length"),
    "it says the wrong thing": completed('{"supporting_documents": [{"text": 1}]}'),
    "it declines": model_refusal("I cannot help with that."),
    "it filters": completed("", finish_reason="content_filter"),
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
        (count,) = PendingQueue(engine).counts(NOON)
        assert (count.given_up, count.waiting) == (1, 0)
        assert "API key" in str(count.last_error)
        server.chat_script.clear()
        with Application(settings, now=clock) as application:
            assert work_off(application, Event()) == 0
            assert PendingQueue(engine).revive(NOON, kind=Work.SIDECAR) == 1
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
                PendingQueue(engine).revive(utc_now(), kind=None)
                return rows("SELECT count(*) FROM pending") == [(0,)]

            until("the queue is empty", all_done)
    assert (rows(EVERYTHING), rows(ROLLUP)) == expected
    assert in_balance(engine)["assessed"] == 48


def test_what_follows_a_revision_is_done_in_the_same_run(database, asking, rows):
    """The interaction is assessed late, then asked about, then judged by the verdict that this gives."""
    with llm_server() as server:
        with closing(Writer(database, clock, queue_key=QUEUE_KEY)) as writer:
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
        closing(Writer(database, clock, follow_ups=lambda _: [Work.SIDECAR], queue_key=QUEUE_KEY)) as writer,
        llm_server() as server,
        quiet(),
    ):
        settings = asking(server)
        with Application(settings) as application:
            writer.write(a_batch(an_assessment(support=A_STAND_IN, profile_hash=application.assessing.profile.hash)))
        with Application(replace_settings(settings, sidecar=load_settings().sidecar)) as application:
            assert work_off(application, Event()) == 0
        with Application(settings) as application:
            assert work_off(application, Event()) == 1
    assert origins(rows) == [("sidecar", None)]


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
    until("the worker that was left behind has ended", no_worker_left)


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
