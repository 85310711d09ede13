"""Retries and purges dead letters through the application."""

from __future__ import annotations

import json
from datetime import timedelta
from threading import Event

import pytest

from monitor.app.deadletters import Retried, check_known, purge_all, retry
from monitor.app.wiring.application import Application
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.ingest.decode import Decoder
from monitor.store.deadletters.dead_letters import LetterFilter
from tests.factories.answers import NOON, clock
from tests.rig.store.dead_letters import TOPIC, consume, ids_of, in_balance, mendable


@pytest.fixture
def application(database):
    with Application(load_settings(database_url=database, embedding={"provider": "hash"}), now=clock) as application:
        yield application


def run(application, wanted=None, **over):
    return retry(application, wanted or LetterFilter(), **{"app": None, "dialect": None, "stop": Event(), **over})


def test_a_retry_goes_through_the_whole_flow_in_batches(writer, application, engine, rows):
    ingest = application.settings.ingest.model_copy(update={"batch_events": 3})
    application.settings = application.settings.model_copy(update={"ingest": ingest})
    consume(writer, [*(mendable(str(n)) for n in range(8)), b"hopeless", mendable("3")])
    assert run(application) == Retried(asked=10, assessed=8, duplicate=1, dead=1)
    assert run(application) == Retried(asked=1, dead=1)
    assert run(application).vain
    assert in_balance(engine)["monitor", TOPIC, 0]["dead"] == 1
    assert rows("SELECT DISTINCT app, profile_name FROM assessment") == [("default", "hash")]


def test_a_retry_reads_by_the_dialect_and_app_that_it_is_given(writer, application, rows):
    sample = {"user_input": "Q?", "retrieved_contexts": ["D."], "response": "A."}
    consume(writer, [json.dumps(sample).encode()], decoder=Decoder(dialect="native"))
    assert run(application, dialect="ragas", app="shop") == Retried(asked=1, assessed=1)
    assert rows("SELECT app FROM interaction") == [("shop",)]


def test_a_retry_or_purge_that_is_stopped_does_nothing_more(writer, application, rows):
    consume(writer, [mendable("1")])
    stop = Event()
    stop.set()
    assert run(application, stop=stop) == Retried()
    assert purge_all(application, LetterFilter(), last=10**9, stop=stop).total == 0
    assert rows("SELECT count(*) FROM dead_letter WHERE settled_at IS NULL") == [(1,)]


def test_letters_that_came_since_are_not_purged(writer, application, letters):
    consume(writer, [b"x"])
    last = letters.count(LetterFilter()).last
    consume(writer, [b"y"], first=1, expected=1)
    assert purge_all(application, LetterFilter(until=NOON + timedelta(days=1)), last=last, stop=Event()).total == 1
    assert letters.count(LetterFilter()).total == 1


def test_an_id_that_is_none_is_named_before_anything_is_done(writer, application, letters, rows):
    consume(writer, [mendable("1")])
    (known,) = ids_of(letters)
    check_known(letters, LetterFilter(ids=(known,)))
    check_known(letters, LetterFilter())
    with pytest.raises(WrongSettings, match=f"no dead letter {known + 1}, {known + 7};"):
        run(application, LetterFilter(ids=(known + 7, known, known + 1)))
    assert rows("SELECT count(*) FROM interaction") == [(0,)]
