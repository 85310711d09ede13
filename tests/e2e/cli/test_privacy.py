"""Redaction, `monitor retention` and `monitor erase` as a person uses them."""

from __future__ import annotations

import json
import re

import pytest

MAIL = "jane.doe@shop.example"
OLD = {"occurred_at": "2020-02-15T10:00:00Z"}


@pytest.fixture
def replayed(monitor, tmp_path):
    """Replays these events, and says what the ledger was."""
    monitor.settings.update({"EMBEDDING__PROVIDER": "hash"})

    def replay(*events, **settings):
        log = tmp_path / "answers.jsonl"
        log.write_text("".join(events))
        return monitor.json("replay", log, **settings)

    return replay


def test_what_is_personal_is_never_stored(monitor, replayed, event, rows):
    redaction = {"REDACTION__KINDS": "e-mail,phone", "REDACTION__REGIONS": "DE"}
    broken = json.dumps({"id": "q-2", "app": "support-bot", "question": MAIL}) + "\n"
    events = (event("q-1", question=f"I am {MAIL}, call 030 12345678", tags={"user": MAIL}), broken)
    assert replayed(*events, **redaction)["dead"] == 1
    again = replayed(*events, **redaction)
    assert (again["duplicate"], again["dead"]) == (1, 1)
    assert rows("SELECT question, tags, marks FROM interaction") == [
        ("I am [e-mail], call [phone]", {"user": "[e-mail]"}, ["redacted", "time_defaulted"])
    ]
    ((value,),) = rows("SELECT value FROM dead_letter")
    assert json.loads(value)["question"] == "[e-mail]"
    assert "personal data was replaced" in monitor.run("explain", "q-1").stdout


def test_a_wrong_pattern_is_said(monitor):
    ended = monitor.run("settings", REDACTION__PATTERNS='{"employee": "("}')
    assert ended.returncode == 2
    assert "employee: '(' is no regular expression" in ended.stderr


def test_retention_from_what_would_go_to_the_recount(monitor, replayed, event, rows):
    replayed(event("q-1", **OLD), event("q-2", **OLD), event("q-3"))
    kept = monitor.run("retention")
    assert (kept.returncode, "everything is kept forever" in kept.stdout) == (0, True)
    would = monitor.json("retention", "--dry-run", RETENTION__KEEP="400d")
    (part,) = would["parts"]
    assert (part["month"], part["interactions"], part["whole_month"], would["dry_run"]) == ("2020-02", 2, True, True)
    assert rows("SELECT count(*) FROM interaction") == [(3,)]
    done = monitor.run("retention", RETENTION__KEEP="400d")
    assert "2 interactions removed" in done.stdout
    assert "2020-02" in done.stdout
    assert rows("SELECT id FROM interaction") == [("q-3",)]
    assert "no interaction is older" in monitor.run("retention", RETENTION__KEEP="400d").stdout
    assert monitor.run("ledger", "--recount").returncode == 0
    assert replayed(event("q-1", **OLD), event("q-3"))["duplicate"] == 2
    wrong = monitor.run("retention", RETENTION__KEEP="soon")
    assert (wrong.returncode, "'soon' is not a duration" in wrong.stderr) == (2, True)


def test_retention_in_doubt_waits_for_the_command_that_it_prints(monitor, replayed, event, rows):
    """As after a clock has jumped ahead by years: what is stored seems to be from long ago."""
    replayed(event("q-1", **OLD), event("q-2", **OLD))
    rows("UPDATE interaction SET stored_at = '2020-02-15T10:00:00Z'")
    keep = {"RETENTION__KEEP": "400d"}
    refused = monitor.run("retention", **keep)
    assert (refused.returncode, "2 interactions would be removed" in refused.stdout) == (1, True)
    assert "nothing was removed: 2 of 2 interactions have been due for more than 2 days" in refused.stderr
    assert "nothing was stored since 2020-02-15 10:00" in refused.stderr
    would = monitor.json("retention", "--dry-run", **keep)
    assert (would["interactions"], "a clock is ahead" in would["refused"]) == (2, True)
    assert rows("SELECT count(*) FROM interaction") == [(2,)]
    printed = re.findall(r"`monitor ([^`]*)`", refused.stderr)[-1].split()
    assert "2 interactions removed" in monitor.run(*printed, **keep).stdout
    assert rows("SELECT count(*) FROM interaction") == [(0,)]


def test_erasing_a_conversation(monitor, replayed, event, rows):
    broken = json.dumps({"id": "q-4", "app": "support-bot", "conversation_id": "conversation-7"}) + "\n"
    said = {"conversation_id": "conversation-7", "question": f"I am {MAIL}"}
    replayed(event("q-1", **said), event("q-2", **said), event("q-3"), broken)
    this = ("erase", "--app", "support-bot", "--conversation", "conversation-7")
    would = monitor.json(*this, "--dry-run")
    assert [one["id"] for one in would["interactions"]] == ["q-1", "q-2"]
    assert (would["erased"], len(would["dead_letters"])) == (0, 1)
    shown = monitor.run(*this, "--dry-run").stdout
    named = [line.split("  ")[1] for line in shown.splitlines() if line.startswith("  ")]
    assert named == ["support-bot/q-1", "support-bot/q-2"]
    assert "audit seal" not in shown
    unasked = monitor.run(*this)
    assert (unasked.returncode, "Add --yes" in unasked.stderr) == (2, True)
    assert rows("SELECT count(*) FROM interaction WHERE question <> ''") == [(3,)]
    done = monitor.run(*this, "--yes", "--dead-letters", "--reason", f"asked for by {MAIL}")
    assert done.returncode == 0, done.stderr
    assert "2 interactions erased" in done.stdout
    assert "`monitor run` seals the erasure within 60 s; `monitor audit seal` seals it now" in done.stdout
    assert "deleted 1 dead letter that named them" in done.stdout
    assert rows("SELECT id FROM interaction WHERE question <> ''") == [("q-3",)]
    assert rows("SELECT count(*) FROM dead_letter") == [(0,)]
    assert "no such interaction is stored" in monitor.run(*this, "--yes").stdout
    by_id = monitor.run("erase", "--app", "support-bot", "--interaction", "q-1", "--yes")
    assert "erased before: 1 interaction; nothing is left to erase" in by_id.stdout
    assert "erased" in monitor.run("explain", "q-1").stdout
    assert MAIL not in str(rows("SELECT body FROM audit_leaf")) + str(rows("SELECT body FROM audit_queue"))


def test_an_erasure_without_a_choice_is_wrong_use(monitor):
    ended = monitor.run("erase", "--app", "shop")
    assert (ended.returncode, "--conversation ID" in ended.stderr) == (2, True)
    assert monitor.run("erase", "--app", "shop", "--tag", "user", "--yes").returncode == 2


def test_the_audit_trail_proves_what_is_left(monitor, replayed, event):
    events = [event(f"q-{n}", **OLD, conversation_id=f"c-{n}") for n in range(2)]
    replayed(*events, event("q-2", conversation_id="c-2"), event("q-3"))
    assert monitor.run("audit", "seal").returncode == 0
    assert monitor.run("audit", "verify").returncode == 0
    assert monitor.run("erase", "--app", "support-bot", "--conversation", "c-2", "--yes").returncode == 0
    assert monitor.run("retention", RETENTION__KEEP="400d").returncode == 0
    assert monitor.run("audit", "seal").returncode == 0
    verified = monitor.run("audit", "verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr
