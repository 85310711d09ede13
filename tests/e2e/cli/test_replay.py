"""`monitor replay`: what a file becomes, and what is said of it."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from monitor.assess.score.features import FEATURES
from monitor.core.model import Origin, Reason, RefusalKind, Verdict

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# as others rely on them: design.md §10
KEYS = {
    "id",
    "app",
    "occurred_at",
    "verdict",
    "probabilities",
    "uncalibrated",
    "refusal",
    "metrics",
    "reasons",
    "support",
    "alignment",
    "diagnosis",
    "retrieval",
    "standalone_question",
    "profile",
    "embedding_model",
    "rule_verdict",
    "rank",
    "reference",
    "features",
    "missing",
}
METRICS = {"sdq", "sdrd", "sda", "qrd", "qa"}


@pytest.fixture
def lines(event):
    return [
        event("1", occurred_at="2026-05-04T09:12:33.5+02:00"),
        event("2", answer="I am sorry, but I cannot find any information about that in the documents provided."),
        event("3", answer="Snapshots are carried to the moon by trained hamsters every second Tuesday."),
        event("1", answer="A duplicate."),
        "\n",
        '{"id": "4", "question": "no answer", "retrieved_documents": []}\n',
        "no JSON at all\n",
        event("5", retrieved_documents=[], answer=""),
    ]


@pytest.fixture
def written(tmp_path, lines):
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(lines))
    return file


LEDGER = {"received": 7, "assessed": 4, "duplicate": 1, "dead": 2, "balanced": True}


def test_a_first_replay_with_every_default_needs_nothing_but_the_file(fresh, written):
    ended = fresh.run("replay", written)
    assert ended.returncode == 0
    assert "7 received = 4 assessed + 1 duplicate + 2 dead" in ended.stderr
    assert f"{written}:6: answer: is missing" in ended.stderr
    assert f"{written}:7: the message is not JSON" in ended.stderr
    assert ended.stdout == ""
    assert "1 duplicate with another question or answer than is stored under the same id, which stays: " in ended.stderr
    again = fresh.json("replay", written)  # the server was stopped in between; its data were not lost
    assert again["duplicate"] == 5
    assert again["other_texts"] == {"answers": 1, "first": ["support-bot/1"]}


def test_the_next_steps_that_are_printed_show_the_answers(monitor, event):
    """Each but the last, which serves until it is stopped, is run as it stands."""
    bad = "Snapshots are carried to the moon by trained hamsters every second Tuesday."
    lines = event("1", app="my shop") + event("-2 'b'", app="my shop", answer=bad)
    ended = monitor.run("replay", "-", stdin=lines.encode())
    *_, steps = ended.stderr.partition("next:\n")
    explained, newest, served = (shlex.split(step, comments=True) for step in steps.splitlines())
    assert served == ["monitor", "serve"]
    shown = monitor.run(*explained[1:])
    assert shown.returncode == 0, shown.stderr
    assert "hamsters" in shown.stdout
    assert "-2 'b'" in shown.stdout
    listed = monitor.run(*newest[1:])
    assert listed.returncode == 0, listed.stderr
    assert "my shop/1" in listed.stdout
    assert "my shop/-2 'b'" in listed.stdout
    assert "next:" not in monitor.run("replay", "-", stdin=b"no JSON at all").stderr


def test_a_file_may_be_compressed_or_come_on_standard_input(monitor, tmp_path, lines):
    text = "".join(lines).encode()
    (tmp_path / "answers.jsonl.gz").write_bytes(gzip.compress(text))
    (tmp_path / "answers.jsonl.zst").write_bytes(zstd.compress(text))
    ledger = monitor.json("replay", "answers.jsonl.gz")
    assert {name: ledger[name] for name in LEDGER} == LEDGER
    assert len(ledger["rejected"]) == 2
    duplicates = {**LEDGER, "assessed": 0, "duplicate": 5}
    zst = monitor.json("replay", "answers.jsonl.zst")
    assert {name: zst[name] for name in LEDGER} == duplicates
    piped = monitor.json("replay", "-", "answers.jsonl.gz", stdin=text)
    assert {name: piped[name] for name in LEDGER} == {
        name: 2 * count if name != "balanced" else count for name, count in duplicates.items()
    }


def test_the_output_has_one_assessment_for_each_interaction_in_order(monitor, tmp_path, written):
    ended = monitor.run("replay", written, "--output", "assessed.jsonl")
    assert ended.returncode == 0
    rows = [json.loads(line) for line in (tmp_path / "assessed.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == ["1", "2", "3", "1", "5"]
    for row in rows:
        assert set(row) == KEYS
        assert row["app"] == "support-bot"
        assert datetime.fromisoformat(row["occurred_at"]).tzinfo is not None
        assert row["verdict"] in set(Verdict)
        assert row["rule_verdict"] in set(Verdict)
        assert set(row["probabilities"]) == set(Verdict)
        assert all(0 <= p <= 1 for p in row["probabilities"].values())
        assert sum(row["probabilities"].values()) == pytest.approx(1, abs=2e-6)
        assert row["uncalibrated"] in (True, False)
        assert set(row["refusal"]) == {"kind", "correct"}
        assert row["refusal"]["kind"] in set(RefusalKind)
        assert row["refusal"]["correct"] in (True, False, None)
        assert set(row["metrics"]) == METRICS
        assert all(value is None or -1.000001 <= value <= 1.000001 for value in row["metrics"].values())
        assert set(row["reasons"]) <= set(Reason)
        assert set(row["support"]) == {"origin", "documents"}
        assert row["support"]["origin"] in set(Origin)
        for piece in row["support"]["documents"]:
            assert set(piece) == {"document_id", "start", "end", "text"}
        for pair in row["alignment"]:
            assert set(pair) == {
                "answer_start",
                "answer_end",
                "document",
                "document_id",
                "start",
                "end",
                "score",
                "contradicts",
            }
        assert set(row["features"]) == set(FEATURES)
        assert set(row["profile"]) == {"name", "hash"}
        assert row["profile"]["name"] == "minilm-int8"
        assert row["embedding_model"].startswith("all-MiniLM-L6-v2")
    assert rows[0]["occurred_at"] == "2026-05-04T07:12:33.500000Z"
    assert [row["verdict"] for row in rows[:3]] == ["grounded", "refusal", "self_generated"]
    assert rows[1]["refusal"]["kind"] == "full"
    assert rows[0]["alignment"][0]["score"] > 0.9 > rows[2]["alignment"][0]["score"]
    assert rows[4]["alignment"] == []
    assert rows[4]["metrics"] == dict.fromkeys(METRICS)


def test_the_output_may_go_to_standard_output_and_nothing_else_does(monitor, written):
    ended = monitor.run("replay", written, "-o", "-")
    assert [json.loads(line)["id"] for line in ended.stdout.splitlines()] == ["1", "2", "3", "1", "5"]


def test_the_app_of_events_that_name_none_can_be_given(monitor, event):
    line = json.dumps({k: v for k, v in json.loads(event("1")).items() if k != "app"})
    ended = monitor.run("replay", "-", "--app", "shop", "-o", "-", stdin=line.encode())
    assert json.loads(ended.stdout)["app"] == "shop"


def test_a_strict_replay_fails_when_a_line_was_rejected(monitor, written, event):
    assert monitor.run("replay", "--strict", written).returncode == 1
    assert monitor.run("replay", "--strict", "-", stdin=event("9").encode()).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere.jsonl"],
        ["."],
        ["-", "-"],
        ["answers.jsonl", "-o", "no/such/folder"],
        ["answers.jsonl", "--dialect", "x"],
        [],
    ],
    ids=["missing", "a folder", "standard input twice", "no place for the output", "unknown dialect", "no file"],
)
def test_wrong_use_is_two_and_says_why_in_a_line_or_two(monitor, written, arguments):
    ended = monitor.run("replay", *arguments)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    assert written.read_text()


def test_a_database_that_is_not_there_is_three_at_once(monitor, written):
    ended = monitor.run("replay", written, DATABASE_URL="postgresql://postgres@127.0.0.1:1/nothing")
    assert ended.returncode == 3
    assert "127.0.0.1" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_output_on_a_full_disk_is_named_and_the_answers_are_stored(monitor, written, rows):
    ended = monitor.run("replay", written, "--output", "/dev/full", EMBEDDING__PROVIDER="hash")
    assert ended.returncode != 0
    assert "cannot write /dev/full any more: No space left on device" in ended.stderr
    assert "are stored; make room, or name another --output, and replay the same files" in ended.stderr
    assert rows("SELECT count(*) > 0 FROM interaction") == [(True,)]


def test_an_output_that_nobody_reads_on_is_no_traceback(monitor, tmp_path, event):
    """As with `| head -1`: the pipe is closed after the first line."""
    (tmp_path / "many.jsonl").write_text("".join(event(str(n)) for n in range(600)))
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "monitor", "replay", "many.jsonl", "-o", "-"],
        env=monitor.environment({"EMBEDDING__PROVIDER": "hash"}),
        cwd=tmp_path,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert "Traceback" not in ended.stderr


def test_the_input_is_not_taken_for_the_output(monitor, written, lines):
    ended = monitor.run("replay", written, "-o", written)
    assert written.read_text() == "".join(lines)
    assert ended.returncode == 2


def test_every_file_of_the_development_data_balances_with_the_hash_embedder(monitor):
    """The hash embedder keeps this short; what MiniLM makes of these answers is `benchmarks/`'s business."""
    here = Path(__file__).parents[3]  # the default lies beside the checkout, wherever the tests run from
    files = sorted((here / os.environ.get("MONITOR_DATA_DIR", "../shared/data") / "dev").glob("*.jsonl.gz"))
    if not files:
        pytest.skip("no labelled answers: they are no part of the project; MONITOR_DATA_DIR names their folder")
    ledger = monitor.json("replay", *files, EMBEDDING__PROVIDER="hash")
    assert ledger["received"] == sum(len(gzip.decompress(f.read_bytes()).splitlines()) for f in files)
    assert (ledger["balanced"], ledger["dead"]) == (True, 0)
    assert ledger["assessed"] > 0


def test_a_file_of_which_nothing_can_be_read_fails_and_says_what_to_look_at(monitor, event):
    ended = monitor.run("replay", "-", stdin=b"\x01\xff\n\x01\xfe\n")
    assert ended.returncode == 1
    assert "2 received = 0 assessed + 0 duplicate + 2 dead" in ended.stderr
    assert "nothing was assessed: see `monitor docs start/forms`" in ended.stderr
    ended = monitor.run("replay", "-", stdin=b"\x01\xff\n" + event("whole").encode())
    assert ended.returncode == 0
