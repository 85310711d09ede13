"""Events that flow while the embedder is away, and workers that assess them afterwards."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from threading import Event

import pytest

from monitor.app.pending.workers import work_off
from monitor.app.wiring.application import Application
from monitor.core.batch import Tally
from monitor.core.errors import Fatal
from monitor.core.settings.load import Settings, load_settings
from monitor.store.pending.queue import PendingQueue
from tests.factories.answers import (
    NOON,
    clock,
)
from tests.rig.store.workers import EVERYTHING, event, flow, in_balance
from tests.rig.store.writing import ROLLUP
from tests.servers.llm import (
    HANG_UP,
    KEY,
    llm_server,
    too_many_requests,
)


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
        event(0),
        b"no JSON",
        event(0),
        event(1),
        b"no JSON either",
        event(0),
        event(2),
        b"[]",
        event(1),
        event(3),
        b"{}",
        event(0),
        event(4),
        b"",
        event(3),
    ]
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
            PendingQueue(engine).revive(NOON, kind=None)
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
