"""Follow-up questions through the whole program: read with turns of the batch, of earlier runs, and when rescored."""

from __future__ import annotations

import json
from importlib import resources

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app as command_line
from tests.rig.store.keys import give_key

SAID = "What does the premium plan cost?"
READ_AS = f"{SAID} And for seniors?"


@pytest.fixture
def run(database, tmp_path, monkeypatch):
    give_key(tmp_path / "state")
    for name, value in {
        "STATE_DIR": tmp_path / "state",
        "DATABASE_URL": database,
        "EMBEDDING__PROVIDER": "hash",
    }.items():
        monkeypatch.setenv(f"MONITOR_{name}", str(value))

    def ran(*arguments):
        done = CliRunner().invoke(command_line, list(map(str, arguments)), env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        return done.stdout

    return ran


@pytest.fixture
def replayed(run, tmp_path):
    def replay(*events):
        file = tmp_path / "events.jsonl"
        file.write_text("".join(json.dumps(one) + "\n" for one in events), encoding="utf-8")
        written = run("replay", file, "--output", "-")
        return {one["id"]: one for one in map(json.loads, written.splitlines()) if one.get("id")}

    return replay


def event(number, question, **over):
    documents = ["The premium plan costs twelve dollars a month. Seniors pay half of that."]
    known = {"id": f"q-{number}", "app": "support-bot", "occurred_at": f"2026-05-04T09:0{number}:00Z", "turn": number}
    known |= {"conversation_id": "c-1", "question": question, "answer": "Half of it.", "retrieved_documents": documents}
    return {**known, **over}


def explained(run):
    (row,) = json.loads(run("explain", "support-bot/q-2", "--json"))
    return row


def test_a_turn_of_the_same_batch_is_borrowed_from_and_explain_shows_both_readings(replayed, run):
    written = replayed(event(2, "And for seniors?"), event(1, SAID))
    assert written["q-1"]["standalone_question"] is None
    assert written["q-2"]["standalone_question"]["text"] == READ_AS
    row = explained(run)
    assert (row["question"], row["read_as"]["text"]) == ("And for seniors?", READ_AS)
    assert row["read_as"]["as_asked"]["qrd"] < row["qrd"]
    assert f"read as        {READ_AS}" in run("explain", "support-bot/q-2")


@pytest.mark.parametrize("earlier", [{}, {"unscored": "call_failed", "answer": "", "retrieved_documents": []}])
def test_a_turn_that_an_earlier_run_has_stored_is_borrowed_from(earlier, replayed):
    replayed(event(1, SAID, **earlier))
    assert replayed(event(2, "And for seniors?"))["q-2"]["standalone_question"]["text"] == READ_AS


def test_a_later_turn_another_app_and_another_conversation_are_not(replayed):
    replayed(event(3, SAID), event(1, SAID, id="a", app="other-bot"), event(1, SAID, id="b", conversation_id="c-2"))
    assert replayed(event(2, "And for seniors?"))["q-2"]["standalone_question"] is None


def test_a_rescore_reads_it_with_its_turns_too(replayed, run, tmp_path):
    replayed(event(1, SAID), event(2, "And for seniors?"))
    shipped = (resources.files("monitor.assess.classify.profiles") / "hash.toml").read_text(encoding="utf-8")
    (tmp_path / "other.toml").write_text(shipped.replace('name = "hash"', 'name = "other"'))
    run("rescore", "--profile", tmp_path / "other.toml", "--from", "2026-05-04", "--to", "2026-05-05", "--yes")
    rows = json.loads(run("explain", "support-bot/q-2", "--json"))
    assert {row["profile_name"]: row["read_as"]["text"] for row in rows} == {"hash": READ_AS, "other": READ_AS}
