"""The smaller commands."""

from __future__ import annotations

import json
import shlex

import pytest

from monitor.alert.explain.cause_words import command_of
from monitor.alert.explain.finding import ExampleAnswer


def test_the_doctor_finds_a_fresh_installation_well_before_and_after_its_migration(fresh):
    findings = {f["check"]: f for f in fresh.json("doctor")}
    assert all(finding["good"] for finding in findings.values())
    assert "none yet" in findings["migrations"]["detail"]
    assert fresh.run("migrate").returncode == 0
    ended = fresh.run("doctor")
    assert ended.returncode == 0
    assert "fails" not in ended.stdout
    assert "PostgreSQL 18" in ended.stdout
    assert "embedded" in ended.stdout


def test_the_doctor_goes_on_where_one_check_fails(monitor):
    findings = monitor.json("doctor", code=1, DATABASE_URL="postgresql://127.0.0.1:1/nothing", RULES="nowhere.yaml")
    failed = [f["check"] for f in findings if not f["good"]]
    assert failed == ["database", "migrations", "references", "alert rules", "turns", "audit"]
    assert all(f["mended_by"] for f in findings if not f["good"])


def test_where_the_database_is_out_of_reach_the_setting_and_the_next_step_are_named(monitor):
    ended = monitor.run("alerts", "list", DATABASE_URL="postgresql://127.0.0.1:1/nothing")
    assert ended.returncode == 3
    assert "Connection refused" in ended.stderr
    assert "check MONITOR_DATABASE_URL if it is set; `monitor doctor` tries all that the settings name" in ended.stderr


def test_an_interaction_is_explained_with_its_verdict_and_its_support(monitor, event):
    line = event("q [1]", question="How long are [deleted] snapshots kept?")
    monitor.run("replay", "-", stdin=(line + event("q [1]", app="other")).encode())
    shown = ExampleAnswer(
        id="q [1]", app="support-bot", question="", answer="", verdict="grounded", reasons=(), probability=1.0
    )
    command = command_of(shown)  # as an alert prints it
    ended = monitor.run(*shlex.split(command)[1:])
    assert ended.returncode == 0
    parts = (
        "grounded, ",
        "How long are [deleted] snapshots kept?",
        "Deleted snapshots are kept for 30 days.",
        "support-bot / q [1]",
        "uncalibrated",
        "supported by",
        "the documents support sentence 1",
    )
    for part in parts:
        assert part in ended.stdout
    for figure in ("SDQ", "log-odds"):
        assert figure not in ended.stdout
    detailed = monitor.run("explain", "q [1]", "--app", "support-bot", "--details").stdout
    for part in (*parts, "SDQ", "log-odds", "threshold of self-generated"):
        assert part in detailed
    rows = monitor.json("explain", "q [1]")
    assert sorted(row["app"] for row in rows) == ["other", "support-bot"]
    assert rows[0]["verdict"] == "grounded"
    (sentence,) = rows[0]["explanation"]["sentences"]
    assert (sentence["text"], sentence["carried"]) == ("Deleted snapshots are kept for 30 days.", "carried")
    assert sentence["passage"]["text"]
    assert rows[0]["explanation"]["thresholds"]["self_generated"] > 0
    missing = monitor.run("explain", "nothing")
    assert missing.returncode == 2
    assert "nothing" in missing.stderr


def test_the_newest_answers_are_listed_however_old_they_are(monitor, event):
    monitor.settings["EMBEDDING__PROVIDER"] = "hash"
    assert "`monitor replay FILE` stores some" in monitor.run("explain").stdout
    monitor.run("replay", "-", stdin=event("q-1", occurred_at="2024-02-03T10:00:00Z").encode())
    for arguments in ((), ("--app", "support-bot")):
        assert "2024-02-03 10:00" in monitor.run("explain", *arguments).stdout
    (row,) = monitor.json("explain")
    assert (row["app"], row["id"]) == ("support-bot", "q-1")
    assert "apps with answers: support-bot" in monitor.run("explain", "--app", "suport-bot").stdout
    lately = monitor.run("rates")
    assert "no answers of the last seven days are stored" in lately.stdout
    assert "the newest answers are of 2024-02-03 10:00 UTC; that week: monitor rates --from" in lately.stdout
    assert "--since 90d looks further back" in monitor.run("review", "next").stderr


def test_no_alert_is_listed_at_first(monitor):
    nothing = {"alerts": [], "rules": [], "unsent": [], "silences": [], "rules_problem": None, "too_small": []}
    assert monitor.json("alerts", "list") == nothing
    assert monitor.run("alerts", "list").stdout == "no alert was ever pending\n"


def test_settings_are_shown_and_secrets_masked(monitor):
    secrets = {
        "DATABASE_URL": "postgresql://me:TOPSECRET2@db.example/x",
        "SLACK__BOT_TOKEN": "TOPSECRET3",
        "LLM__API_KEY": "TOPSECRET4",
        "EMBEDDING__API_KEY": "TOPSECRET5",
        "SLACK__WEBHOOK_URL": "https://hooks.example/TOPSECRET1",
    }
    shown = monitor.json("settings", **secrets, SLACK__CHANNEL="#alerts")
    assert shown["slack"]["channel"] == "#alerts"
    assert shown["slack"]["webhook_url"] == shown["llm"]["api_key"] == "**********"
    listed = monitor.run(
        "settings", **secrets, SLACK__CHANNEL="#alerts", REDACTION__PATTERNS='{"id": "E[0-9]+"}'
    ).stdout
    rows = {name: rest for name, *rest in map(str.split, listed.splitlines())}
    assert rows["MONITOR_SLACK__CHANNEL"] == ["#alerts"]
    assert rows["MONITOR_REDACTION__PATTERNS__ID"] == ["E[0-9]+"]
    given, left = listed.partition("\ndefault ")[::2]
    assert given.startswith("set ")
    assert "MONITOR_SLACK__CHANNEL" in given
    assert "MONITOR_SLACK__CHANNEL" not in left
    assert "MONITOR_EVALUATION_INTERVAL" in left
    assert "MONITOR_EVALUATION_INTERVAL" not in given
    text = listed + json.dumps(shown)
    assert "MONITOR_SLACK__CHANNEL" in text
    assert "TOPSECRET" not in text


def test_a_wrong_setting_is_two_and_its_value_is_not_repeated(monitor):
    ended = monitor.run("settings", SLACK__TOKEN="TOPSECRET", EVALUATION_INTERVAL="-1")
    assert ended.returncode == 2
    assert "MONITOR_SLACK__TOKEN: is not a setting" in ended.stderr
    assert "MONITOR_EVALUATION_INTERVAL: must be more than 0" in ended.stderr
    assert "TOPSECRET" not in ended.stderr


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["replay", "--no-such-option", "x"]], ids=" ".join)
def test_wrong_arguments_are_two(monitor, arguments):
    assert monitor.run(*arguments).returncode == 2


def test_help_names_every_command(monitor):
    ended = monitor.run("--help")
    assert ended.returncode == 0
    for command in ("replay", "run", "demo", "doctor", "migrate", "explain", "settings", "alerts", "rules"):
        assert command in ended.stdout
