"""Human labels by the command line: offered, labelled, compared, exported, and read again."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime, timedelta

import pytest

REFUSAL = "I am sorry, but I cannot find any information about that in the documents provided."


@pytest.fixture
def filled(monitor, event):
    """Forty answers of an hour ago, one of them with a hostile id."""
    monitor.settings["EMBEDDING__PROVIDER"] = "hash"
    an_hour_ago = (datetime.now(UTC) - timedelta(hours=1)).isoformat()
    names = [*(f"q-{n}" for n in range(39)), "it's [red] / \x1b[2J"]
    lines = (
        event(name, occurred_at=an_hour_ago, **({"answer": REFUSAL} if n % 3 else {})) for n, name in enumerate(names)
    )
    assert monitor.run("replay", "-", "--strict", stdin="".join(lines).encode()).returncode == 0
    return monitor


def told(monitor, *arguments):
    ended = monitor.run("review", *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_an_offer_is_labelled_by_the_command_that_it_names(filled):
    shown = told(filled, "next", "--by", "ann")
    assert "(class)" in shown  # there are no labels yet: calibration lacks both classes
    assert "self-generated" not in shown
    (command,) = (line for line in shown.splitlines() if line.startswith("monitor review label"))
    *words, last = shlex.split(command)[2:]
    assert last == "LABEL"
    assert told(filled, *words, "refusal", "--note", "it says [so]") == "1 labelled; 0 of them drawn at random\n"
    (after,) = filled.json("review", "next", "--by", "ann")
    assert after["drawn"] == "random"
    assert after["command"] != command


def test_the_verdict_is_shown_only_when_asked_for(filled):
    assert "verdict" not in filled.json("review", "next")[0]
    assert filled.json("review", "next", "--reveal")[0]["verdict"] in {"grounded", "refusal", "self_generated"}
    assert "profile hash" in told(filled, "next", "--reveal")


def test_labels_of_a_file_are_compared_and_exported_and_come_in_again(filled, tmp_path):
    offers = filled.json("review", "next", "--random", "--count", "40")
    assert {offer["drawn"] for offer in offers} == {"random"}
    assert "\x1b" not in told(filled, "next", "--count", "40")
    labels = [
        {"app": o["app"], "id": o["id"], "label": "refusal" if o["answer"] == REFUSAL else "grounded"} for o in offers
    ]
    lines = "".join(json.dumps(one) + "\n" for one in labels).encode()
    done = filled.json("review", "label", "--file", "-", "--by", "ann", stdin=lines)
    assert done == {"stored": 40, "unchanged": 0, "at_random": 40}
    assert filled.json("review", "label", "--file", "-", "--by", "ann", stdin=lines)["unchanged"] == 40
    assert told(filled, "next") == "nothing to label among the answers of the last 7d\n"
    of_nix = "of the app 'nix' of"
    assert told(filled, "next", "--app", "nix") == f"nothing to label among the answers {of_nix} the last 7d\n"
    assert told(filled, "agreement", "--app", "nix").startswith(f"no answer {of_nix} these weeks was drawn at random")

    found = filled.json("review", "agreement", "--weeks", "2")
    assert (found["all"]["labels"], found["all"]["not_labelled"], found["left_out"]) == (40, 0, 0)
    assert found["all"]["verdict"]["lower"] <= found["all"]["verdict"]["share"] <= found["all"]["verdict"]["upper"]
    table = told(filled, "agreement")
    assert " 40 " in table
    assert "Wilson" in table

    ended = filled.run("review", "export", "--output", "labels.jsonl")
    assert ended.returncode == 0
    assert "40 of 40 labelled interactions written" in ended.stderr
    written = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(one["id"], one["label"]) for one in written} == {(one["id"], one["label"]) for one in labels}
    again = filled.json("replay", "labels.jsonl", "--strict")
    assert (again["received"], again["duplicate"]) == (40, 40)


def test_two_people_are_compared(filled):
    (offer,) = filled.json("review", "next", "--random", "--by", "ann")
    name = f"{offer['app']}/{offer['id']}"
    told(filled, "label", "--by", "ann", name, "self-generated")
    (second,) = filled.json("review", "next", "--second-opinion", "--by", "bob")
    assert (second["id"], second["drawn"]) == (offer["id"], "random")
    told(filled, "label", "--by", "bob", name, "refusal")
    assert filled.json("review", "next", "--second-opinion", "--by", "bob") == []
    found = filled.json("review", "agreement")
    assert [(pair["people"], pair["agreeing"], pair["total"]) for pair in found["people"]] == [(["ann", "bob"], 0, 1)]
    assert found["all"]["disputed"] == 1
    assert "people disagree on 1" in filled.run("review", "export").stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["label", "support-bot/nothing", "grounded"], "no such interaction"),
        (["label", "support-bot/q-1", "fine"], "not a label"),
        (["label", "grounded"], "which interactions"),
        (["label", "q-1", "grounded"], "APP/ID"),
        (["label"], "--file"),
        (["label", "support-bot/q-1", "grounded", "--file", "x"], "--file"),
        (["label", "--file", "nowhere.jsonl"], "nowhere.jsonl"),
        (["label", "support-bot/q-1", "grounded", "--by", " "], "--by"),
        (["next", "--since", "soon"], "--since"),
        (["next", "--random", "--second-opinion"], "either"),
        (["next", "--interactive"], "terminal"),
        (["export", "--output", "no/such/folder/x"], "cannot write"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_use_is_two_and_says_why(monitor, arguments, says):
    ended = monitor.run("review", *arguments)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_database_out_of_reach_is_three(monitor):
    assert monitor.run("review", "agreement", DATABASE_URL="postgresql://127.0.0.1:1/x").returncode == 3
