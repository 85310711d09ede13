"""Turns that a probe caused, through the whole flow: stored, never scored, in no rate; a forged mark hides nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from threading import Event

import pytest
from typer.testing import CliRunner

from monitor.app.deadletters import retry
from monitor.app.wiring.application import Application
from monitor.cli.app import app as command_line
from monitor.core.settings.load import load_settings
from monitor.ingest.decode import Decoder
from monitor.probe.mark import conversation_name
from monitor.store.deadletters.dead_letters import LetterFilter
from monitor.store.interaction.turns.unscored_counts import unscored_totals
from monitor.store.probe.runs import ProbeRuns
from tests.factories.answers import clock
from tests.factories.probe.runs import run
from tests.rig.store.dead_letters import consume
from tests.rig.store.keys import give_key

OURS, FORGED = "0123456789abcdef" * 2, "f" * 32


@pytest.fixture
def monitor(database, engine, tmp_path, monkeypatch):
    ProbeRuns(engine).begin(run(began_at=datetime(2026, 5, 4, 8, 59, tzinfo=UTC)), mark=OURS)
    give_key(tmp_path / "state")
    known = {"STATE_DIR": tmp_path / "state", "DATABASE_URL": database, "EMBEDDING__PROVIDER": "hash"}
    for name, value in known.items():
        monkeypatch.setenv(f"MONITOR_{name}", str(value))

    def ran(*arguments):
        done = CliRunner().invoke(command_line, list(map(str, arguments)), env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        return done.stdout

    return ran


def event(name, mark, **over):
    known = {"id": name, "app": "shop", "occurred_at": "2026-05-04T09:00:00Z", "question": "When do you open?"}
    known |= {"conversation_id": conversation_name(mark, 0), "answer": "At nine.", "retrieved_documents": ["Nine."]}
    return {**known, **over}


def test_what_a_probe_asked_is_stored_unscored_and_a_forged_mark_is_scored(monitor, engine, rows, tmp_path):
    file = tmp_path / "events.jsonl"
    tagged = {"conversation_id": "c-1", "tags": {"probe": conversation_name(OURS, 1)}}
    lacking = {"unscored": "call_failed", "answer": None, "retrieved_documents": None}
    events = [
        event("live", OURS, conversation_id="c-2"),
        event("probed", OURS),
        event("tagged", OURS, **tagged),
        event("failed", OURS, **lacking),
        event("forged", FORGED),
    ]
    file.write_text("".join(json.dumps(one) + "\n" for one in events), encoding="utf-8")
    monitor("replay", file)
    assert rows("SELECT id, unscored FROM interaction ORDER BY id") == [
        *(("failed", "probe"), ("forged", None), ("live", None), ("probed", "probe"), ("tagged", "probe"))
    ]
    assert rows("SELECT id FROM assessment ORDER BY id") == [("forged",), ("live",)]
    assert unscored_totals(engine) == {}
    assert rows("SELECT sum(total) FROM verdict_minute") == [(2,)]


def test_a_letter_that_is_mended_is_told_apart_too(writer, database, engine, rows):
    ProbeRuns(engine).begin(run(began_at=datetime(2026, 5, 4, 8, 59, tzinfo=UTC)), mark=OURS)
    letters = [json.dumps(event(name, mark)).encode() for name, mark in (("probed", OURS), ("forged", FORGED))]
    consume(writer, letters, decoder=Decoder(dialect="ragas"))
    assert rows("SELECT count(*) FROM dead_letter") == [(2,)]
    with Application(load_settings(database_url=database, embedding={"provider": "hash"}), now=clock) as application:
        retry(application, LetterFilter(), app=None, dialect="native", stop=Event())
    assert rows("SELECT id, unscored FROM interaction ORDER BY id") == [("forged", None), ("probed", "probe")]
    assert rows("SELECT id FROM assessment") == [("forged",)]
