"""The API against its own OpenAPI document: schemathesis requests the running program, with all its checks."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from monitor.core.message import Offset, Skip
from monitor.store.interaction.filters import PagePosition
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.runs import ProbeRuns
from monitor.store.tokens import Access
from monitor.web.base.access import Role
from monitor.web.base.cursor import to_cursor
from tests.factories.answers import NOON, a_batch, a_dead_letter, an_assessment, at
from tests.factories.probe.runs import item, result, run
from tests.rig.installation import ROOT, Installation
from tests.rig.waiting import until

EXAMPLES = 25  # of an operation, beside those that cover the edges of its parameters
SEED = 20251121
ALERT = """
    INSERT INTO alert (fingerprint, episode, rule, rule_digest, signal, labels, severity, threshold, "window",
                       annotations, receivers, state, active_since, samples, lower, upper)
    VALUES (%s, 'e', 'negative-rate', 'd', 'negative', '{"app": "support-bot"}', 'critical', 0.3, '5 min', '{}',
            '{slack}', %s, now(), 1, 0, 1)
"""
A_PROFILE = "0123456789abcdef"
PROFILE = """
    INSERT INTO profile (hash, name, embedding_model, definition, stored_at) VALUES (%s, 'hash', 'hash/64', '{}', now())
"""
CONFIG = """
hooks = "{hooks}"
headers = {{ Authorization = "Bearer {token}" }}
[checks]
enabled = true
[parameters]
"path.fingerprint" = "{fingerprint}"
"path.hash" = "{profile}"
[generation]
deterministic = true
max-examples = {examples}
"""


@pytest.fixture
def filled(writer, rows, engine):
    """Rows of every kind that the API returns."""
    rows(PROFILE, A_PROFILE)
    offsets = (
        Offset(topic="rag", partition=0, expected=None, next=5, begin=0, received=2, skipped={Skip.TOMBSTONE: 3}),
    )
    interactions = [an_assessment(id=f"q-{number}", occurred_at=at(number)) for number in range(60)]
    dead = (a_dead_letter(topic="rag", offset=1), a_dead_letter(topic="rag", offset=2, value=b"\xff\x00"))
    writer.write(a_batch(*interactions, dead_letters=dead, offsets=offsets))
    GoldenSets(engine).save("support", [item()], by="tests", now=NOON)
    runs = ProbeRuns(engine)
    for mark in "abc":
        runs.save(runs.begin(run(), mark=mark).number, 0, result(item(), 4, 5))
    for number, state in enumerate(["pending", "firing", "resolved"]):
        rows(ALERT, f"{number:032x}", state)


@pytest.fixture
def serving(
    filled,  # noqa: ARG001  the rows
    database,
    engine,
    tmp_path,
):
    """The running program, its address and an administrator's token."""
    _, token = Access(engine).make_token("schemathesis", Role.ADMIN, by="tests", now=NOON)
    installation = Installation(
        tmp_path, DATABASE_URL=database, STATE_DIR=str(tmp_path / "state"), EMBEDDING__PROVIDER="hash", WEB__PORT="0"
    )
    running = installation.start("serve")
    until(f"it serves; it said\n{running.err}", lambda: "dashboard: http" in running.err)
    yield running, running.err.partition("dashboard: ")[2].split("/\n")[0], token
    installation.close()


def test_the_api_is_as_its_description_says(serving, tmp_path):
    running, url, token = serving
    config = tmp_path / "schemathesis.toml"
    hooks = ROOT / "tests" / "rig" / "web" / "schema_hooks.py"
    config.write_text(
        CONFIG.format(hooks=hooks, token=token, examples=EXAMPLES, fingerprint=f"{1:032x}", profile=A_PROFILE)
    )
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"),
        *(f"{url}/api/v1/openapi.json", "--phases", "examples,coverage,fuzzing", "--seed", str(SEED), "--no-color"),
    ]
    cursors = ",".join(
        to_cursor(PagePosition(occurred_at=at(number), app="support-bot", id="q-1")) for number in range(3)
    )
    ended = subprocess.run(
        command,
        env={**os.environ, "SCHEMA_CURSORS": cursors},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr + running.err
    assert "Traceback" not in running.err
