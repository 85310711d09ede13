"""Forked commands do what commands do that are started anew."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.rig.commands import ROOT, run


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        (["--version"], b"", 0),
        (["no-such-command"], b"", 2),
        (["evaluate", "-", "--json"], b"no JSON\n", 2),
        (["rules", "check", "nowhere.yaml"], b"", 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_forked_command_ends_and_prints_as_one_that_is_started_anew(tmp_path, arguments, stdin, code):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "120"}
    anew = subprocess.run(
        [sys.executable, "-m", "monitor", *arguments],
        env=environment,
        cwd=tmp_path,
        input=stdin,
        capture_output=True,
        check=False,
    )
    forked = run(arguments, environment=environment, folder=tmp_path, stdin=stdin)
    assert (forked.returncode, forked.stdout, forked.stderr) == (code, anew.stdout.decode(), anew.stderr.decode())
    assert anew.returncode == code
