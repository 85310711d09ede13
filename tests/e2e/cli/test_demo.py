"""Both demos, one after the other in one installation, with every command that they print."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.e2e.conftest import fresh_installation

PROVE = "prove that nothing was changed since it was stored"
ALERTS = "show the alert that fires, and the one that came and went"
BROWSE = "open the link that this prints; the span of one hour shows both incidents"
LINES, COLUMNS = 75, 80  # three screens


def next_commands(text):
    """The commands that a demo prints, by what they are for: that stands above them, or behind them."""
    steps, above = {}, ""
    for line in text.partition("Next:\n")[2].partition("\n\n")[0].splitlines():
        command, _, behind = line.strip().partition("# ")
        if command:
            steps[behind or above] = command.strip()
        above = behind
    return steps


def folders(place):
    return sorted(path.name for path in Path(place.settings["STATE_DIR"]).iterdir())


@pytest.fixture(scope="module")
def place(encoder_cache, postgres):  # noqa: ARG001  skips where that one does
    with fresh_installation(encoder_cache) as installation:
        yield installation


@pytest.fixture(scope="module")
def ran():
    """The lines that a shell was given."""
    return set()


@pytest.fixture(scope="module")
def shell(place, ran):
    """Runs a line as a person does who copies it, with `monitor` on the path and these settings in the environment.

    The line runs to its end, or with `until` till it says these words; `then` gets the line with them, and the signal
    `ends` follows.
    """
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def run(line, until=None, then=None, ends=signal.SIGTERM, **settings):
        environment = {**place.environment(settings), "PATH": path}
        ran.add(line.partition(" || ")[0])
        with subprocess.Popen(
            ["sh", "-c", line],
            env=environment,
            cwd=place.folder,
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
                    os.killpg(process.pid, ends)
                    break
            said += process.stdout.read()
        assert process.returncode == 0 or (until and ends == signal.SIGTERM), line + said
        assert until is None or until in said, line + said
        return said

    return run


@pytest.fixture(scope="module")
def named(tmp_path_factory):
    """Settings that name another key and witness, in a folder that every demo leaves empty."""
    folder = tmp_path_factory.mktemp("named")
    audit = {"KEY_FILE": "key", "WITNESS_FILE": "checkpoints", "ORIGIN": "example.org/log", "ENABLED": "false"}
    yield {f"AUDIT__{name}": str(folder / value) if "FILE" in name else value for name, value in audit.items()}
    assert list(folder.iterdir()) == []


@pytest.fixture(scope="module")
def other_database(place):
    """A settings file that names a database which does not answer."""
    settings = place.folder / "monitor.toml"
    settings.write_text('database_url = "postgresql://nobody@127.0.0.1:1/nothing"\n', encoding="utf-8")
    return settings


@pytest.fixture(scope="module")
def first(place, shell, named, other_database):  # noqa: ARG001  the demo does not care for that file
    """What the first demo says, where the settings name another database, key and witness."""
    said = shell(
        "COLUMNS=80 monitor demo --seed 7 --plain", **named, DATABASE_URL="postgresql://nobody@127.0.0.1:2/nothing"
    )
    assert folders(place) == ["cache", "demo"]
    return said


@pytest.fixture(scope="module")
def probed(place, shell, first):  # noqa: ARG001  played before
    """What the demo of a probe says after the first demo."""
    said = shell("monitor demo --probe --plain")
    assert folders(place) == ["cache", "demo", "demo-probe"]
    return said


def test_the_demo_shows_one_alert_come_and_go_and_another_that_fires_and_leaves_nothing_behind(
    place, shell, ran, named, other_database, first, probed, event
):
    """Where the settings name another database, key and witness, and before and after real traffic."""

    def verdicts(text):
        return text[text.index("what the bot did") : text.index("verdicts are right")]

    states = re.findall("inactive → pending|resolved → pending|pending → firing|firing → resolved", first)
    again = ["resolved → pending", "pending → firing"]
    assert states == ["inactive → pending", "pending → firing", "firing → resolved", *again]
    assert first.count("Slack would receive") == 3
    assert (
        first.index("│ Retriever: ")
        < first.index("🟢 Resolved")
        < first.index("│ Generator, prompt version support-2026-11 (new): ")
    )
    assert [*re.findall(r"^verdict +(\S+),", first, re.MULTILINE)] == ["grounded", "refusal", "self-generated"]
    assert "\x1b" not in first
    printed = first[first.index("The support bot") :].splitlines()
    assert len(printed) <= LINES
    assert max(map(len, first[first.index("The support bot") : first.index("Next:")].splitlines())) <= COLUMNS

    steps = next_commands(first)
    assert "the trail is intact" in shell(steps[PROVE], **named)
    alerts = shell(steps[ALERTS], **named)
    assert "firing since" in alerts
    assert "firing → resolved" in alerts
    assert "quillmere-support / demo-" in shell(steps["explain an answer with a wrong verdict"], **named)
    shell(steps[BROWSE], until="http://127.0.0.1:", **named, WEB__PORT="0")
    other_database.unlink()
    (place.folder / "answers.jsonl").write_text(event("a"))
    shell(steps["your own; the form: monitor docs start/events"])
    shell("monitor audit seal")

    def dashboard(line):
        with httpx2.Client(follow_redirects=True) as browser:
            signed_in = browser.get(line.strip())
            assert "firing" in browser.get(str(signed_in.url.join("/alerts"))).text
            rules = browser.get(str(signed_in.url.join("/alerts/rules"))).text
            assert "Evaluated by" in rules  # those that it played, not others
            assert "has not taken these rules up" not in rules

    second = shell(
        "exec env COLUMNS=80 monitor demo --seed 7 --plain --serve",  # a shell would end by the signal too
        until="/signin/link",
        then=dashboard,
        ends=signal.SIGINT,
        WEB__PORT="0",
    )
    assert verdicts(second) == verdicts(first)
    assert "the trail is intact" in shell(next_commands(second)[PROVE])
    assert "the trail is intact" in shell("monitor audit verify")
    assert "2026-11" in shell(next_commands(probed)["list both runs"])
    assert "fails" not in shell(steps["is everything ready for your own answers?"])
    free = {"COLLECT__PORT": "0", "COLLECT__GRPC_PORT": "off"}
    shell(steps["watch a chatbot that runs; how: monitor docs join"], until="http://127.0.0.1:", **free)
    without_kafka = shell(f"{steps['read Kafka; how: monitor docs operate/kafka']} || test $? = 2")
    assert "name files, or set MONITOR_KAFKA__BOOTSTRAP_SERVERS" in without_kafka
    for purpose in (*steps, *next_commands(probed)):
        if " monitor docs " in purpose:
            shell(purpose[purpose.index("monitor docs") :])
    assert set(steps.values()) - ran == set()


def test_the_demo_of_a_probe_catches_the_version_that_got_worse_and_takes_nothing_of_the_first_demo(
    shell, ran, first, probed
):
    kept = next_commands(first)
    assert "negative-rate" in shell(kept[ALERTS])
    assert "the trail is intact" in shell(kept[PROVE])

    assert "a simulated judge" in " ".join(probed.split())
    assert "🟠 Firing: probe-declined, quillmere-support" in probed  # a warning, as the rule ships
    assert probed.count("Slack would receive") == 1
    assert probed.index("── version 2026-11") < probed.index("Firing")
    steps = next_commands(probed)
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
    shell(steps["probe your own chatbot; how: monitor docs quality/probes"])
    lines = [line.strip() for line in probed.splitlines() if " probe show " in line or " probe compare " in line]
    for line in dict.fromkeys(lines):
        if not line.startswith(("#", "│")):
            shell(line)
    assert set(steps.values()) - ran == set()
