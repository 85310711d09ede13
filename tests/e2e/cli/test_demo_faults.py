"""Demos that cannot go on: another one is at work in the same place, or their broker ends."""

from __future__ import annotations

import fcntl
import os
import signal
from pathlib import Path

import pytest

from tests.rig.waiting import until


@pytest.mark.parametrize(("arguments", "folder"), [((), "demo"), (("--probe",), "demo-probe")])
def test_a_demo_that_is_at_work_is_left_alone(fresh, arguments, folder):
    own = Path(fresh.settings["STATE_DIR"]) / folder
    own.mkdir()
    with (own / "demo.lock").open("w") as other:  # as a demo that plays holds it
        fcntl.flock(other, fcntl.LOCK_EX)
        ended = fresh.run("demo", *arguments, "--plain", EMBEDDING__PROVIDER="hash")
    assert ended.returncode == 2
    assert f"another demo is at work in {own}" in ended.stderr
    assert "support bot" not in ended.stdout


@pytest.fixture
def not_ignored():
    """Undoes `nohup`, under which the tests may run, for the processes that they start."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("not_ignored")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_demo_that_is_told_to_end_leaves_no_database_running(fresh, number):
    """As by `docker stop`, or when its terminal is closed."""
    running = fresh.start("demo", "--plain", anew=True, EMBEDDING__PROVIDER="hash")
    until("it plays", lambda: "% negative" in running.out)
    running.process.send_signal(number)
    assert running.ended() == 128 + number
    assert not (Path(fresh.settings["STATE_DIR"]) / "demo/postgres/postmaster.pid").exists()


@pytest.mark.usefixtures("kafka")  # skips without Java
def test_a_demo_whose_broker_ends_says_so_and_leaves_nothing_behind(fresh, monkeypatch, tmp_path):
    """As where its disk is full, or the system needs its memory."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running = fresh.start("demo", "--kafka", "--plain", anew=True, EMBEDDING__PROVIDER="hash")
    until("it plays", lambda: "% negative" in running.out)
    (java,) = (
        process
        for process in Path("/proc").glob("[0-9]*")
        if _link(process, "cwd").startswith(str(tmp_path)) and _link(process, "exe").endswith("java")
    )
    os.kill(int(java.name), signal.SIGKILL)
    assert running.ended() == 3
    assert "Kafka's node 1 has ended" in running.err
    assert list(tmp_path.iterdir()) == []


def _link(process, name):
    try:
        return str((process / name).readlink())
    except OSError:
        return ""
