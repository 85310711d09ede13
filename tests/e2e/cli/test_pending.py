"""Pending work and language models by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from monitor.core.pending import Work
from monitor.store.interaction.writer import Writer
from tests.factories.answers import A_STAND_IN, a_batch, an_assessment, an_interaction, clock
from tests.rig.store.keys import QUEUE_KEY, give_key
from tests.servers.llm import CHAT_MODEL, KEY, llm_server, refusal


@pytest.fixture
def hashing(monitor):
    """The installation with embeddings that cost nothing."""
    monitor.settings["EMBEDDING__PROVIDER"] = "hash"
    return monitor


@pytest.fixture
def server():
    with llm_server() as server:
        yield server


@pytest.fixture
def llm(server):
    return {"LLM__BASE_URL": server.base_url, "LLM__API_KEY": KEY, "LLM__MODEL": CHAT_MODEL}


@pytest.fixture
def filled(hashing, database, rows):
    """One of each kind, and one that was given up."""
    give_key(Path(hashing.settings["STATE_DIR"]))
    writer = Writer(
        database,
        clock,
        follow_ups=lambda a: [Work.SIDECAR] if a.support.stands_in is not None else [Work.JUDGE],
        queue_key=QUEUE_KEY,
    )
    writer.write(
        a_batch(
            an_assessment(id="s [1]", support=A_STAND_IN),
            an_assessment(id="j"),
            pending=(an_interaction(id="a"), an_interaction(id="hopeless")),
            received=4,
        )
    )
    writer.close()
    rows(
        "UPDATE pending SET given_up = true, attempts = 100, last_error = '[red]\x1b[2J is away'"
        " WHERE interaction_id = 'hopeless'"
    )
    return hashing


def listed(monitor, *arguments):
    return [row["interaction_id"] for row in monitor.json("pending", "list", *arguments)]


def test_at_first_nothing_is_pending(hashing, empty_database):
    hashing.settings["DATABASE_URL"] = empty_database
    ended = hashing.run("pending")
    assert (ended.returncode, ended.stdout) == (0, "nothing is pending\n")
    assert hashing.json("pending") == {"pending": [], "used_today": [], "unscored": {}}
    assert hashing.json("pending", "list") == []
    worked = hashing.run("pending", "work")
    assert (worked.returncode, worked.stderr.splitlines()[-1]) == (
        0,
        "0 items processed; `monitor pending` shows what is left",
    )
    revived = hashing.run("pending", "retry")
    assert (revived.returncode, revived.stderr) == (0, "0 items due now\n")


def test_what_is_pending_is_counted_and_listed(filled):
    shown = filled.run("pending")
    assert shown.returncode == 0
    assert [line.split()[:6] for line in shown.stdout.splitlines()[1:]] == [
        ["assess", "1", "1", "0", "0", "1"],
        ["sidecar", "1", "1", "0", "0", "0"],
        ["judge", "1", "1", "0", "0", "0"],
    ]
    assert "[red]\ufffd[2J is away" in shown.stdout
    found = filled.json("pending")
    assert [count["kind"] for count in found["pending"]] == ["assess", "sidecar", "judge"]
    assert found["pending"][0]["last_error"] == "[red]\x1b[2J is away"
    assert found["used_today"] == []

    assert sorted(listed(filled)) == ["a", "hopeless", "j", "s [1]"]
    assert listed(filled, "--given-up") == ["hopeless"]
    assert listed(filled, "--kind", "judge", "--no-given-up") == ["j"]
    table = filled.run("pending", "list", "--most", "3")
    assert table.returncode == 0
    assert "s [1]" in table.stdout
    assert len(table.stdout.splitlines()) == 4
    assert "\x1b" not in shown.stdout + table.stdout


def test_pending_work_is_done_and_what_was_given_up_is_retried(filled, server, llm, rows):
    assert filled.run("pending", "work").returncode == 0
    assert rows("SELECT id FROM assessment ORDER BY id") == [("a",), ("j",), ("s [1]",)]  # the rest needs a model
    assert rows("SELECT interaction_id FROM pending ORDER BY 1") == [("hopeless",), ("j",), ("s [1]",)]
    assert filled.run("pending", "retry", "--kind", "judge").stderr.endswith("0 items due now\n")
    assert filled.run("pending", "retry", "--kind", "assess").stderr.endswith("1 item due now\n")
    over = {
        **llm,
        "SIDECAR__MODE": "explain",
        "JUDGE__MODE": "combined",
        "JUDGE__SAMPLE__LOW_MARGIN": "0",
        "JUDGE__SAMPLE__REST": "0",
        "JUDGE__SAMPLE__NEGATIVES": "0",
    }
    rows("UPDATE assessment SET profile_hash = (SELECT profile_hash FROM assessment WHERE id = 'a')")
    worked = filled.run("pending", "work", **over)
    assert worked.returncode == 0, worked.stderr
    assert worked.stderr.splitlines()[-1] == "3 items processed; `monitor pending` shows what is left"
    assert rows("SELECT count(*) FROM pending") == [(0,)]
    assert rows("SELECT support ->> 'origin' FROM assessment WHERE id = 's [1]'") == [("sidecar",)]
    assert rows("SELECT count(*), max(id), sum(calls) FROM judgement") == [(3, "j", 1)]
    assert {(row["purpose"], row["calls"]) for row in filled.json("pending")["used_today"]} == {
        ("judge", 1),
        ("sidecar", 2),
    }
    assert len(server.chats) == 3


def test_a_replay_asks_the_sidecar_and_stores_what_it_says(hashing, server, llm, event, rows):
    server.answer = lambda _: {"supporting_documents": ["Deleted snapshots are kept for 30 days"]}
    lines = event("1") + event("2", supporting_documents=["Deleted snapshots"]) + event("3", retrieved_documents=[])
    ended = hashing.run("replay", "-", "--output", "-", stdin=lines.encode(), **llm, SIDECAR__MODE="explain")
    assert ended.returncode == 0, ended.stderr
    supports = {(a := json.loads(line))["id"]: a["support"] for line in ended.stdout.splitlines()}
    assert supports["1"]["origin"] == "sidecar"
    assert supports["1"]["sidecar"]["mode"] == "explain"
    (piece,) = supports["1"]["documents"]
    assert (piece["text"], piece["start"], piece["end"]) == ("Deleted snapshots are kept for 30 days", 0, 38)
    assert supports["2"]["origin"] == "logged"
    assert supports["3"]["origin"] == "extractive"
    assert len(server.chats) == 1
    assert dict(rows("SELECT id, support ->> 'origin' FROM assessment")) == {
        "1": "sidecar",
        "2": "logged",
        "3": "extractive",
    }
    assert KEY not in ended.stderr


def test_a_replay_without_its_sidecar_ends_and_leaves_it_to_later(hashing, server, llm, event, rows):
    server.chat_script.append(refusal(401, "Incorrect API key"))
    asking = {**llm, "SIDECAR__MODE": "explain"}
    ended = hashing.run("replay", "-", stdin=event("1").encode(), **asking)
    assert ended.returncode == 0, ended.stderr
    assert rows("SELECT support ->> 'origin' FROM assessment") == [("extractive",)]
    assert rows("SELECT kind, interaction_id FROM pending") == [("sidecar", "1")]
    server.chat_script.clear()
    assert hashing.run("pending", "work", **asking).returncode == 0
    assert rows("SELECT support ->> 'origin', earlier -> 'support' ->> 'origin' FROM assessment") == [
        ("sidecar", "extractive")
    ]


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"SIDECAR__MODE": "explain"}, "the sidecar needs a model: set MONITOR_LLM__MODEL"),
        ({"SIDECAR__MODE": "regenerate", "LLM__MODEL": "m"}, "the sidecar needs a key: set MONITOR_LLM__API_KEY"),
        ({"JUDGE__MODE": "separate", "JUDGE__MODEL": "m"}, "the judge needs a key: set MONITOR_LLM__API_KEY"),
        ({"EMBEDDING__PROVIDER": "openai"}, "set MONITOR_EMBEDDING__API_KEY or MONITOR_LLM__API_KEY"),
        ({"JUDGE__MODE": "separate", "JUDGE__BATCH": "true"}, "BATCH needs MODE combined"),
        ({"LLM__BUDGET__COST_PER_DAY": "1"}, "a budget in money needs INPUT_PRICE and OUTPUT_PRICE"),
    ],
)
def test_a_wrong_setting_is_two_and_is_named(hashing, settings, named):
    ended = hashing.run("pending", "work", **settings)
    assert (ended.returncode, "Traceback" in ended.stderr) == (2, False)
    assert named in ended.stderr


def test_wrong_arguments_are_two(hashing):
    assert hashing.run("pending", "list", "--kind", "beauty").returncode == 2
    assert hashing.run("pending", "list", "--most", "0").returncode == 2


def test_a_replay_with_a_wrong_sidecar_reads_nothing(hashing, event, rows):
    ended = hashing.run("replay", "-", stdin=event("1").encode(), SIDECAR__MODE="explain")
    assert ended.returncode == 2
    assert "MONITOR_LLM__MODEL" in ended.stderr
    assert rows("SELECT count(*) FROM interaction") == [(0,)]


def test_a_database_that_is_away_is_three(hashing):
    for arguments in (("pending",), ("pending", "work")):
        ended = hashing.run(*arguments, DATABASE_URL="postgresql://127.0.0.1:1/nothing")
        assert (ended.returncode, "Traceback" in ended.stderr) == (3, False)


def test_the_doctor_asks_the_language_models(hashing, llm):
    def found(code=0, **settings):
        return {f["check"]: f for f in hashing.json("doctor", code=code, **settings)}["language models"]

    asked = found(**llm, SIDECAR__MODE="explain", JUDGE__MODE="combined")
    assert asked["good"]
    for words in ("sidecar (explain): gpt-test answers", "judge (combined): gpt-test answers", "no budget is set"):
        assert words in asked["detail"]
    assert found(code=1, **llm, PROBES="no-such.yaml")["detail"].startswith("judge of probes: gpt-test answers")
    dead = found(code=1, **{**llm, "LLM__BASE_URL": "http://127.0.0.1:9/v1"}, JUDGE__MODE="combined")
    assert "127.0.0.1:9 is out of reach; MONITOR_LLM__BASE_URL says where it is" in dead["detail"]
    assert dead["mended_by"]
    wrong = found(code=1, **{**llm, "LLM__API_KEY": "sk-wrong"}, SIDECAR__MODE="explain")
    assert "MONITOR_LLM__API_KEY" in wrong["detail"]
    assert "sk-wrong" not in json.dumps(wrong)
