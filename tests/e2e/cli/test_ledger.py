"""`monitor ledger` and `monitor deadletters` as a person runs them."""

from __future__ import annotations

import base64
import json
import os
import pty
import subprocess
import sys

import pytest

from tests.rig.waiting import until

SAMPLE = {"user_input": "When do you open?", "retrieved_contexts": ["We open at nine."], "response": "At nine."}
COMMANDS = {"EMBEDDING__PROVIDER": "hash"}


@pytest.fixture
def read(monitor, tmp_path, event):
    """Two interactions, one of which comes twice, and three dead letters, in a file that was followed."""
    monitor.settings.update(COMMANDS)
    log = tmp_path / "answers.jsonl"
    log.write_bytes(
        (event("1") + event("2") + event("1") + json.dumps(SAMPLE) + "\n").encode() + b"\xff\x1b[2J no JSON\n[1, 2]\n"
    )
    running = monitor.start("run", log, "--dialect", "native")
    until("all is stored", lambda: "received = " in running.err or len(dead(monitor)) == 3)
    assert running.terminate() == 0
    return log


def dead(monitor, *arguments):
    return monitor.json("deadletters", "list", *arguments)


def ledger(monitor, *arguments, code=0):
    return monitor.json("ledger", *arguments, code=code)


def counts(monitor, *arguments):
    (row,) = ledger(monitor, *arguments)["rows"]
    return {name: row[name] for name in ("received", "assessed", "duplicate", "dead", "purged")}


def test_nothing_was_read_at_first(monitor):
    ended = monitor.run("ledger")
    assert (ended.returncode, ended.stdout) == (
        0,
        "no message was read yet by `monitor run`, `consume` or `collect`; `replay` prints its own counts\n",
    )
    found = ledger(monitor, "--recount")
    assert (found["balanced"], found["rows"], found["recount"]) == (True, [], [])
    assert "no open dead letters" in monitor.run("deadletters", "list").stdout
    assert dead(monitor) == []
    nothing = monitor.run("deadletters", "retry", "--all", **COMMANDS)
    assert (nothing.returncode, nothing.stdout) == (0, "no open dead letters\n")
    assert monitor.json("deadletters", "purge", "--all") == {"total": 0, "open": 0}


def test_a_dead_letter_from_its_discovery_to_its_end(monitor, read):
    assert counts(monitor) == {"received": 6, "assessed": 2, "duplicate": 1, "dead": 3, "purged": 0}
    listed = monitor.run("deadletters", "list")
    assert "3 of 3 open dead letters" in listed.stdout
    assert "is not UTF-8" in listed.stdout
    assert "\x1b" not in listed.stdout
    assert "1 of 3 open dead letters" in monitor.run("deadletters", "list", "--most", "1").stdout
    third, second, first = (row["id"] for row in dead(monitor))
    assert [row["id"] for row in dead(monitor, "--problem", "NOT utf-8")] == [second]
    assert [row["id"] for row in dead(monitor, "--topic", read, "--until", "2020-01-01T00:00Z")] == []

    mended = monitor.run("deadletters", "retry", "--all", "--dialect", "auto")
    assert mended.returncode == 0
    assert "3 tried = 1 assessed + 0 duplicate + 2 still dead" in mended.stdout
    assert counts(monitor, "--recount") == {"received": 6, "assessed": 3, "duplicate": 1, "dead": 2, "purged": 0}
    assert {row["id"]: row["outcome"] for row in dead(monitor, "--all")} == {
        first: "assessed",
        second: None,
        third: None,
    }
    assert "open" in monitor.run("deadletters", "list", "--all").stdout
    assert "assessed by a retry" in monitor.run("deadletters", "show", first).stdout
    vain = monitor.json("deadletters", "retry", second, third, code=1)
    assert vain == {
        **dict.fromkeys(("assessed", "duplicate", "unscored", "collected", "elsewhere"), 0),
        "asked": 2,
        "dead": 2,
    }
    again = monitor.run("deadletters", "retry", first)
    assert (again.returncode, again.stdout) == (0, "none of these dead letters is open\n")

    unasked = monitor.run("deadletters", "purge", third)
    assert unasked.returncode == 2
    assert "--yes" in unasked.stderr
    assert monitor.json("deadletters", "purge", "--all", "--settled", "--yes") == {"total": 1, "open": 0}
    assert monitor.json("deadletters", "purge", "--older-than", "90d", "--yes") == {"total": 0, "open": 0}
    assert "deleted 1 dead letter, 1 of them open" in monitor.run("deadletters", "purge", third, "--yes").stdout
    assert [row["id"] for row in dead(monitor, "--all")] == [second]
    assert counts(monitor, "--recount") == {"received": 6, "assessed": 3, "duplicate": 1, "dead": 2, "purged": 1}


def test_the_ledger_says_how_far_the_reading_of_each_source_has_come(monitor, read, rows):
    (source,) = ledger(monitor)["reading"]
    assert (source["source"], source["left"]) == (str(read), 0)
    assert 0 <= source["behind_seconds"] < 3_600
    rows(
        "UPDATE reading SET through = now() - interval '50 minutes', seen_at = now() - interval '5 minutes', behind = 7"
    )
    shown = monitor.run("ledger").stdout.splitlines()
    place = next(number for number, line in enumerate(shown) if "last looked at" in line)
    assert shown[place].startswith("source ")
    (line,) = shown[place + 1 :]
    assert line.startswith(str(read))
    assert "50m" in line
    assert line.endswith("7")
    assert ledger(monitor, "--topic", "another")["reading"] == []
    rows("UPDATE reading SET seen_at = now() - interval '2 days'")
    assert [source["left"] for source in ledger(monitor, "--topic", read)["reading"]] == [None]


def test_a_message_is_shown_and_given_back_as_it_came(monitor, read):
    third, second, first = (row["id"] for row in dead(monitor))
    shown = monitor.run("deadletters", "show", second)
    assert "[2J no JSON" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert "is not UTF-8" in shown.stdout
    raw = subprocess.run(
        [sys.executable, "-m", "monitor", "deadletters", "show", str(second), "--raw"],
        env=monitor.environment({}),
        cwd=read.parent,
        capture_output=True,
        check=True,
    )
    assert raw.stdout == b"\xff\x1b[2J no JSON"
    assert json.loads(monitor.json("deadletters", "show", first)["value"]) == SAMPLE
    found = monitor.json("deadletters", "show", second)
    assert base64.b64decode(found["value_base64"]) == b"\xff\x1b[2J no JSON"
    assert (found["group_id"], found["headers"], found["key"], found["outcome"]) == ("monitor", [], None, None)
    missing = monitor.run("deadletters", "show", third + 1)
    assert (missing.returncode, missing.stdout) == (2, "")


def test_a_long_message_is_cut_on_a_terminal_with_a_note(monitor, event):
    monitor.settings.update(COMMANDS)
    monitor.run("replay", "-", stdin=event("1", answer=["x" * 9_000]).encode())
    (row,) = dead(monitor)
    shown = monitor.run("deadletters", "show", row["id"]).stdout
    assert "more characters; --raw writes all of it" in shown
    assert shown.count("x") < 5_000
    assert len(monitor.json("deadletters", "show", row["id"])["value"]) > 9_000


@pytest.mark.parametrize(
    "arguments",
    [
        ["retry"],
        ["purge"],
        ["retry", "7"],
        ["purge", "7", "--yes"],
        ["show", "7"],
        ["show", "x"],
        ["show", "0"],
        ["retry", "1", "--all"],
        ["purge", "1", "--topic", "t"],
        ["purge", "--topic", "t", "--yes"],
        ["purge", "--older-than", "soon", "--yes"],
        ["list", "--since", "yesterday"],
        ["show", "1", "--raw", "--json"],
        ["retry", "--all", "--dialect", "x"],
        ["list", "--most", "0"],
        ["show", str(2**63)],
    ],
    ids=" ".join,
)
def test_wrong_use_is_two_and_says_why(monitor, arguments):
    ended = monitor.run("deadletters", *arguments, **COMMANDS)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize(("answer", "left"), [(b"n\n", 3), (b"y\n", 0)])
def test_on_a_terminal_a_purge_asks_first(monitor, read, answer, left):
    ours, theirs = pty.openpty()
    os.write(ours, answer)
    ended = subprocess.run(
        [sys.executable, "-m", "monitor", "deadletters", "purge", "--all"],
        env=monitor.environment({}),
        cwd=read.parent,
        stdin=theirs,
        capture_output=True,
        text=True,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert "Delete 3 dead letters for good, 3 of them open?" in ended.stderr
    assert ended.returncode == (0 if answer == b"y\n" else 1)
    assert len(dead(monitor)) == left


def test_the_ledger_says_where_it_does_not_balance_and_by_how_much(monitor, read, rows):
    good = monitor.run("ledger", "--recount")
    assert good.returncode == 0
    assert "the ledger balances, and the stored rows match it" in good.stdout
    rows("DELETE FROM dead_letter")
    assert monitor.run("ledger").returncode == 0  # the counts alone do not show it
    recounted = monitor.run("ledger", "--recount")
    assert recounted.returncode == 1
    assert "3 were counted as dead and not purged, 0 open dead letters are stored (-3)" in recounted.stdout
    rows("UPDATE consumer_offset SET received = received + 2, expired = 4, spanned = 12")
    wrong = monitor.run("ledger")
    assert wrong.returncode == 1
    assert "differ by 2: 2 messages are in no outcome" in wrong.stdout
    assert "4 messages were deleted by the broker's retention before they were read" in wrong.stdout
    found = ledger(monitor, "--group", "monitor", "--topic", read, code=1)
    assert (found["balanced"], found["total"]["received"]) == (False, 8)
    assert ledger(monitor, "--group", "nobody")["rows"] == []
    assert "no message of this group or topic was read yet" in monitor.run("ledger", "--topic", "x").stdout
