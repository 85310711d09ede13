"""Workers judge beside real consumers, and hold up no event."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from threading import Event
from typing import Any

import pytest

from monitor.app.pending import workers as working_off
from monitor.app.pending.workers import work_off
from monitor.app.wiring.application import Application
from monitor.core.batch import Tally
from monitor.core.settings.load import Settings, load_settings
from tests.rig.ingest.consuming import consuming, settings_for
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name, produce
from tests.rig.installation import ROOT
from tests.rig.store.workers import FOR_EVER, event, in_balance, judged, judging, no_worker_left, replace_settings
from tests.rig.waiting import until
from tests.servers.llm import (
    CHAT_MODEL,
    KEY,
    hang,
    llm_server,
)


def asked_about(server) -> Counter[str]:
    """How often the model was asked about each answer."""
    return Counter(line for chat in server.chats for line in chat.user.splitlines() if "days." in line)


@pytest.fixture
def topic(kafka):
    return create_topic(kafka, new_topic_name(), partitions=2)


def consumer_settings(kafka: str, database: str, topic: str, over: dict[str, Any], **options: Any) -> Settings:
    return replace_settings(
        settings_for(kafka, database, topic, **options), **{k: getattr(load_settings(**over), k) for k in over}
    )


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
            "DATABASE_URL": database,
            "STATE_DIR": str(tmp_path / "state"),
            "EMBEDDING__PROVIDER": "hash",
            "KAFKA__BOOTSTRAP_SERVERS": kafka,
            "KAFKA__TOPICS": topic,
            "INGEST__BATCH_MS": "50",
            "JUDGE__MODE": "separate",
            "JUDGE__METRICS": '["answer_relevance"]',
            "JUDGE__SAMPLE__REST": "1",
            "JUDGE__CONCURRENCY": "1",
            "LLM__BASE_URL": server.base_url,
            "LLM__API_KEY": KEY,
            "LLM__MODEL": CHAT_MODEL,
        }
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **{f"MONITOR_{n}": v for n, v in named.items()}}
        with (
            (tmp_path / "said").open("w") as log,
            subprocess.Popen(
                [sys.executable, "-m", "monitor", "consume"],
                env=environment,
                cwd=tmp_path,
                stdout=log,
                stderr=log,
                start_new_session=True,
            ) as process,
        ):
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
