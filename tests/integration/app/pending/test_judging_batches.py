"""The judge through the batch endpoint: real HTTP, a real queue, a clock that the test moves."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest

from monitor.app.pending.batches import BETWEEN_LOOKS, BatchJudgingWorker
from monitor.app.pending.judging import JudgingWorker
from monitor.app.pending.queue import Queue
from monitor.app.pending.workers import WAIT
from monitor.app.wiring.application import Application
from monitor.assess.llm.batches import BatchEndpoint
from monitor.core.errors import Fatal, Retriable
from monitor.core.model import Verdict
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import BudgetSettings, EmbeddingSettings, JudgeSettings, LLMSettings
from monitor.store.pending.batches import SentBatches
from monitor.store.pending.budget import usage_since
from monitor.store.pending.queue import PendingQueue
from tests.factories.answers import NOON, a_batch, an_assessment
from tests.servers.llm import KEY, completed, expired, failed, llm_server, refusal, server_error

ANSWERED = {
    "statements": [
        {"statement": "It is kept.", "why": "said", "supported": True},
        {"statement": "It is free.", "why": "not said", "supported": False},
    ],
    "questions": ["What is kept?", "For how long?", "Why?"],
    "needed": [1],
    "insufficient": False,
}
METRICS = ("faithfulness", "answer_relevance", "context_relevance")


@pytest.fixture
def server():
    with llm_server(answer=lambda _: ANSWERED) as running:
        running.batches.polls = 2
        yield running


class Clock:
    def __init__(self):
        self.now = NOON + timedelta(minutes=1)

    def __call__(self):
        return self.now

    def later(self, by=BETWEEN_LOOKS):
        self.now += by


@pytest.fixture
def judging(database, server):
    """An application whose judge uses batches, its worker, and its clock."""
    clock = Clock()
    settings = Settings(
        database_url=database,
        embedding=EmbeddingSettings(provider="hash"),
        llm=LLMSettings(
            base_url=server.base_url,
            api_key=server.key,
            model="gpt-test",
            input_price=2,
            output_price=4,
            budget=BudgetSettings(calls_per_day=200),
        ),
        judge=JudgeSettings(mode="combined", batch=True, metrics=METRICS),
    )
    with Application(settings, now=clock) as application:
        application.prepare()
        queue, writer = Queue(pending=PendingQueue(application.engine), now=clock, max_attempts=5), application.writer()
        worker = BatchJudgingWorker(
            queue=queue,
            writer=writer,
            judge=application.language_models.judge,
            direct=JudgingWorker(queue=queue, writer=writer, judge=application.language_models.judge, concurrency=2),
            wait=WAIT,
            model=application.language_models.judging_model,
            budget=application.language_models.budget,
            endpoint=BatchEndpoint(api_key=KEY, base_url=server.base_url),
            batches=SentBatches(application.engine),
        )
        yield application, worker, clock
        worker.close()


def store(application, *names, **over):
    answers = [an_assessment(id=name, verdict=Verdict.SELF_GENERATED, **over) for name in names]
    application.store.write(a_batch(*answers))


def test_a_batch_is_sent_looked_after_and_read_once(judging, server, rows):
    application, worker, clock = judging
    store(application, "a", "b", "c")
    assert worker.round() is None  # it waits for more
    clock.later(WAIT)
    assert worker.round() == 3
    assert rows("SELECT requests, status FROM llm_batch") == [(3, "sent")]
    assert worker.round() is None
    clock.later()
    assert worker.round() is None  # in progress
    clock.later()
    assert worker.round() == 3
    assert {chat.custom_id is None for chat in server.chats} == {False}
    found = rows("SELECT id, metric, score, reason, mode FROM judgement ORDER BY id, metric")
    assert [row[:2] for row in found] == [
        (i, m) for i in "abc" for m in ("answer_relevance", "context_relevance", "faithfulness")
    ]
    assert {(row[2], row[4]) for row in found if row[1] == "faithfulness"} == {(0.5, "combined")}
    assert rows("SELECT count(*) FROM pending") == [(0,)]
    assert rows("SELECT status, finished_at IS NOT NULL FROM llm_batch") == [("completed", True)]
    clock.later()
    assert worker.round() is None


def test_a_batch_costs_half_and_is_counted(judging, server, rows):
    application, worker, clock = judging
    store(application, "a", "b")
    for by in (WAIT, BETWEEN_LOOKS, BETWEEN_LOOKS):
        clock.later(by)
        worker.round()
    (used,) = usage_since(application.engine, NOON)
    assert (used.purpose, used.calls) == ("judge", server.calls) == ("judge", 2)
    assert used.input_tokens + used.output_tokens == server.tokens
    assert used.cost == pytest.approx((2 * used.input_tokens + 4 * used.output_tokens) / 1e6 / 2)
    assert rows("SELECT sum(input_tokens), sum(calls) FROM judgement") == [(used.input_tokens, 2)]


def test_a_batch_of_the_release_before_is_counted_with_its_use_on_top(judging, server, database):
    """It reserved the calls only, and kept nothing of that with the batch."""
    application, worker, clock = judging
    store(application, "a", "b")
    clock.later(WAIT)
    worker.round()
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE llm_batch SET reserved = NULL")
        connection.execute("UPDATE llm_usage SET input_tokens = 70000, output_tokens = 700, cost = 7")  # others' use
    for _ in range(2):
        clock.later()
        worker.round()
    (used,) = usage_since(application.engine, NOON)
    assert used.calls == 2
    assert used.input_tokens + used.output_tokens == 70_700 + server.tokens
    assert used.cost > 7


def test_what_was_reserved_is_given_back_although_settings_have_changed(judging, server, monkeypatch):
    application, worker, clock = judging
    store(application, "a", "b")
    clock.later(WAIT)
    worker.round()
    monkeypatch.setattr(worker.model._dialect, "_max_output_tokens", 50_000)
    for _ in range(2):
        clock.later()
        worker.round()
    (used,) = usage_since(application.engine, NOON)
    assert used.input_tokens + used.output_tokens == server.tokens


def test_an_answer_without_usage_counts_what_was_reserved_although_settings_have_changed(judging, monkeypatch):
    application, worker, clock = judging
    store(application, "a", "b")
    clock.later(WAIT)
    worker.round()
    (reserved,) = usage_since(application.engine, NOON)
    look = worker.endpoint.look

    def silent(id_):
        status, answers = look(id_)
        completions = {name: {**body, "usage": None} for name, body in answers.completions.items()} if answers else {}
        return status, answers and replace(answers, completions=completions)

    monkeypatch.setattr(worker.endpoint, "look", silent)
    monkeypatch.setattr(worker.model._dialect, "_max_output_tokens", 50_000)
    for _ in range(2):
        clock.later()
        worker.round()
    assert list(usage_since(application.engine, NOON)) == [reserved]


def test_requests_that_failed_are_sent_again_and_those_that_the_model_refused_are_not(judging, server, rows):
    application, worker, clock = judging
    store(application, "a", "b", "c")
    server.chat_script += [refusal(500, "broken"), completed("no JSON"), None]
    for by in (WAIT, BETWEEN_LOOKS, BETWEEN_LOOKS):
        clock.later(by)
        worker.round()
    done = dict(rows("SELECT id, reason FROM judgement WHERE metric = 'faithfulness'"))
    assert set(done.values()) == {"malformed", None}
    ((left, error),) = rows("SELECT interaction_id, last_error FROM pending")
    assert left not in done
    assert error == "batch endpoint: status 500"
    for by in (WAIT, BETWEEN_LOOKS, BETWEEN_LOOKS):
        clock.later(by)
        worker.round()
    assert rows("SELECT count(*), count(DISTINCT id) FROM judgement WHERE metric = 'faithfulness'") == [(3, 3)]


@pytest.mark.parametrize(
    ("end", "done", "why"),
    [(expired(1), 1, "could not be executed"), (failed("the input is too large"), 0, "the input is too large")],
)
def test_what_a_batch_did_not_come_to_is_done_by_the_next(judging, server, rows, end, done, why):
    application, worker, clock = judging
    server.batches.script.append(end)
    store(application, "a", "b")
    for by in (WAIT, BETWEEN_LOOKS, BETWEEN_LOOKS):
        clock.later(by)
        worker.round()
    assert rows("SELECT count(DISTINCT id) FROM judgement") == [(done,)]
    assert all(why in error for (error,) in rows("SELECT last_error FROM pending"))
    for by in (WAIT, BETWEEN_LOOKS, BETWEEN_LOOKS):
        clock.later(by)
        worker.round()
    assert rows("SELECT count(DISTINCT id) FROM judgement") == [(2,)]
    assert rows("SELECT count(*) FROM pending") == [(0,)]


def test_nothing_is_sent_beyond_the_budget(judging, server, rows):
    application, worker, clock = judging  # 200 calls a day, the judge's share is half
    store(application, *(f"a-{n}" for n in range(101)))
    clock.later(WAIT)
    worker.round()
    assert rows("SELECT requests FROM llm_batch") == [(50,)]
    put_back = rows("SELECT DISTINCT attempts, last_error LIKE 'the budget%%' FROM pending WHERE claim IS NULL")
    assert put_back == [(0, True)]
    assert len(server.batches.files) == 1  # nothing is uploaded before the budget has room for it


@pytest.mark.parametrize("before", [[], [None]], ids=["the file", "the batch"])
@pytest.mark.parametrize("out_of_reach", [False, True])
def test_what_is_refused_costs_nothing_and_is_put_back(judging, server, rows, monkeypatch, before, out_of_reach):
    def unreachable(*_):
        raise Retriable("the database is out of reach")

    application, worker, clock = judging
    if out_of_reach:
        monkeypatch.setattr(worker.budget, "settle", unreachable)
    store(application, "a")
    server.script += [*before, refusal(401, "unknown key")]
    clock.later(WAIT)
    worker.round()
    assert rows("SELECT claim IS NULL, last_error LIKE '%%status 401%%' FROM pending") == [(True, True)]
    assert out_of_reach or rows("SELECT calls, input_tokens, cost FROM llm_usage") == [(0, 0, 0)]


def test_what_needs_no_call_is_judged_at_once(judging, rows):
    application, worker, clock = judging
    store(application, "a", retrieved_documents=(), answer="")
    clock.later(WAIT)
    worker.round()
    assert dict(rows("SELECT metric, reason FROM judgement"))["faithfulness"] == "empty_answer"
    assert rows("SELECT count(*) FROM llm_batch") == [(0,)]


def test_an_endpoint_that_is_busy_is_tried_again_and_nothing_is_lost(judging, server, rows):
    application, worker, clock = judging
    store(application, "a")
    server.script.append(server_error())
    clock.later(WAIT)
    worker.round()
    assert rows("SELECT attempts, last_error FROM pending") == [(1, "the batch endpoint is busy: status 500")]
    clock.later(WAIT)
    assert worker.round() == 1
    server.script.append(server_error())
    clock.later()
    assert worker.round() is None  # it could not be asked after
    for _ in range(2):
        clock.later()
        worker.round()
    assert rows("SELECT count(DISTINCT id) FROM judgement") == [(1,)]


def test_a_server_without_batches_says_so(server):
    server.script.append(refusal(404, "unknown"))
    endpoint = BatchEndpoint(api_key=KEY, base_url=server.base_url)
    with pytest.raises(Fatal, match="MONITOR_JUDGE__BATCH=false"):
        endpoint.upload({"1": {"model": "gpt-test", "messages": []}})
    endpoint.close()
    gone = BatchEndpoint(api_key=KEY, base_url="http://127.0.0.1:9/v1")
    with pytest.raises(Retriable, match="out of reach"):
        gone.look("batch_1")
    gone.close()


def test_the_requests_are_those_that_a_call_would_make(judging, server):
    application, worker, clock = judging
    store(application, "a")
    clock.later(WAIT)
    worker.round()
    (content,) = (
        text for name, text in server.batches.contents.items() if server.batches.files[name]["purpose"] == "batch"
    )
    line = json.loads(content)
    assert line["url"] == "/v1/chat/completions"
    assert line["body"]["response_format"]["json_schema"]["name"] == "combined_v1"
