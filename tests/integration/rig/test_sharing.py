"""Test runs that were killed leave nothing for good."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from tests.rig.installation import ROOT
from tests.rig.sharing import remove_abandoned

RUN = """
import sys
from tests.rig.sharing import Run
run = Run()
print(run.folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The folder for temporary files."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@pytest.fixture
def running(place):
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", RUN], cwd=ROOT, stdin=pipe, stdout=pipe, text=True, env=os.environ
    ) as process:
        assert process.stdout.readline().startswith(str(place))
        yield process


def test_the_folder_of_a_run_that_was_killed_is_removed_and_that_of_one_that_runs_stays(place, running):
    remove_abandoned(place)
    assert len(list(place.glob("monitor-run-*"))) == 1
    running.send_signal(signal.SIGKILL)
    running.wait()
    remove_abandoned(place)
    assert list(place.glob("monitor-run-*")) == []


def test_what_a_run_of_before_or_one_that_begins_has_made_stays(place):
    (place / "monitor-run-old").mkdir()
    (place / "monitor-run-old" / "life").touch()
    (place / "monitor-run-new").mkdir()
    remove_abandoned(place)
    assert sorted(folder.name for folder in place.iterdir()) == ["monitor-run-new", "monitor-run-old"]
