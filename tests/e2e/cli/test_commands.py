"""The smaller commands, and the demo."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
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


def test_no_alert_is_listed_at_first(monitor):
    nothing = {"alerts": [], "rules": [], "unsent": [], "silences": [], "rules_problem": None}
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
    text = monitor.run("settings", **secrets).stdout + json.dumps(shown)
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


def next_commands(text):
    """The commands that the demo prints, by what they are for."""
    lines = text.partition("Next:\n")[2].splitlines()
    return {purpose.strip(" #"): line.strip() for purpose, line in zip(lines[::2], lines[1::2], strict=True)}


@pytest.fixture
def shell(fresh):
    """Runs a line as a person does who copies it, with `monitor` on the path and these settings in the environment.

    The line runs to its end, or with `until` till it says these words; `then` gets the line with them.
    """
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def run(line, until=None, then=None, **settings):
        environment = {**fresh.environment(settings), "PATH": path}
        with subprocess.Popen(
            ["sh", "-c", line],
            env=environment,
            cwd=fresh.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            said = ""
            for part in process.stdout:
                said += part
                if until is not None and until in part:
                    if then is not None:
                        then(part)
                    os.killpg(process.pid, signal.SIGTERM)
                    break
            said += process.stdout.read()
        assert until in said if until else process.returncode == 0, line + said
        return said

    return run


def test_the_demo_shows_an_alert_come_and_go_and_leaves_nothing_behind(fresh, shell, tmp_path, event):
    """Where the settings name another database, key and witness, and before and after real traffic."""

    def verdicts(text):
        return text[text.index("Verdicts") : text.index("verdicts are right")]

    audit = {"KEY_FILE": "key", "WITNESS_FILE": "checkpoints", "ORIGIN": "example.org/log", "ENABLED": "false"}
    named = {f"AUDIT__{name}": str(tmp_path / value) if "FILE" in name else value for name, value in audit.items()}
    settings = fresh.folder / "monitor.toml"
    settings.write_text('database_url = "postgresql://nobody@127.0.0.1:1/nothing"\n')
    first = shell("monitor demo --seed 7 --plain", **named, DATABASE_URL="postgresql://nobody@127.0.0.1:2/nothing")
    states = [first.index(words) for words in ("inactive → pending", "pending → firing", "firing → resolved")]
    assert states == sorted(states)
    assert first.count("Slack would receive") == 2
    assert "\x1b" not in first
    assert list(tmp_path.iterdir()) == []
    assert sorted(path.name for path in Path(fresh.settings["STATE_DIR"]).iterdir()) == ["cache", "demo"]

    steps = next_commands(first)
    prove = "prove that nothing was changed since it was stored"
    assert "the trail is intact" in shell(steps[prove], **named)
    assert "resolved" in shell(steps["show the alert that came and went"], **named)
    assert "quillmere-support / demo-" in shell(steps["explain an answer with a wrong verdict"], **named)
    browse = steps["open the link that this prints; the span of one hour shows the outage best"]
    shell(browse, until="http://127.0.0.1:", **named, WEB__PORT="0")
    assert list(tmp_path.iterdir()) == []
    settings.unlink()
    (fresh.folder / "answers.jsonl").write_text(event("a"))
    shell(steps["assess your own answers; docs/start/events.md describes the format"])
    shell("monitor audit seal")

    second = shell("monitor demo --seed 7 --plain")
    assert verdicts(second) == verdicts(first)
    assert "the trail is intact" in shell(next_commands(second)[prove])
    assert "the trail is intact" in shell("monitor audit verify")
    assert "fails" not in shell(steps["check that everything is ready for your own answers"])


def test_the_demo_of_a_probe_catches_the_version_that_got_worse(shell):
    said = shell("monitor demo --probe --plain")
    assert "a simulated judge" in " ".join(said.split())
    assert "Firing: probe-declined, quillmere-support" in said
    assert said.count("Slack would receive") == 1
    assert said.index("── version 2026-11") < said.index("Firing")
    steps = next_commands(said)
    (browse,) = (purpose for purpose in steps if purpose.startswith("open the link"))
    pages = re.findall(r"/probes\S*(?=[ ])", browse)

    def opened(line):
        with httpx2.Client(follow_redirects=True) as browser:
            signed_in = browser.get(line.split()[-1])
            texts = [browser.get(str(signed_in.url.join(path))).text for path in pages]
        assert "<svg" in texts[0]
        assert "It says that it does not know." in texts[1]

    assert pages == ["/probes", "/probes/2"]
    shell(steps[browse], until="/signin/link", then=opened, WEB__PORT="0")
    assert "2026-11" in shell(steps["list both runs"])
    assert "It says that it does not know." in shell(steps["see the new version's answers beside their references"])
    assert ": worse" in shell(steps["compare the versions again"])
    assert "probe-declined" in shell(steps["show the alert"])
    golden = shell(steps["write the golden set to a file, in the form that golden import reads"])
    assert len(golden.splitlines()) == 40
    shell(steps["probe your own chatbot; docs/quality/probes.md shows how"])
    lines = [line.strip() for line in said.splitlines() if " probe show " in line or " probe compare " in line]
    for line in dict.fromkeys(lines):
        if not line.startswith(("#", "│")):
            shell(line)
