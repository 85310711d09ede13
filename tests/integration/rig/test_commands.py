"""Forked commands do what commands do that are started anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rig.commands import ROOT, Command, run, started_anew


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


def test_a_forked_command_whose_output_cannot_be_written_ends_as_one_that_is_started_anew(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "120"}
    ends = []
    for start in (Command, started_anew):
        with Path("/dev/full").open("w") as out, (tmp_path / "err").open("w+") as err:
            command = start(["--version"], environment=environment, folder=tmp_path, out=out, err=err)
            command.stdin.close()
            code = command.wait()
            err.seek(0)
            ends.append((code, err.read()))
    assert ends[0] == ends[1]
    assert ends[0][0] == 1
    assert "No space left" in ends[0][1]
