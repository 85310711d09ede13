"""The embedded server: all processes with the same state directory share it, and its data outlive it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.conftest import SERVER
from tests.rig.installation import ROOT


@pytest.fixture
def state_dir(postgres):  # noqa: ARG001  where that one starts, this one does
    folder = Path(tempfile.mkdtemp(prefix="monitor-embedded-"))
    yield folder
    shutil.rmtree(folder)


@contextmanager
def started(state_dir):
    """A process that uses the embedded server until the block is left."""
    arguments = [sys.executable, "-c", SERVER, str(state_dir)]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        url = process.stdout.readline().strip()
        yield url
        process.stdin.close()
    assert process.returncode == 0


def server_id(url):
    with psycopg.connect(url) as connection:
        return connection.execute("SELECT pg_postmaster_start_time()").fetchone()


def test_processes_share_the_server_and_the_last_one_stops_it(state_dir):
    with started(state_dir) as first:
        assert first.startswith("postgresql://")
        with started(state_dir) as second:
            assert second == first
            assert server_id(second) == server_id(first)
        assert server_id(first)  # the remaining process keeps it running
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(first)


def test_processes_that_start_at_once_come_to_the_same_server(state_dir):
    arguments = [sys.executable, "-c", SERVER, str(state_dir)]
    pipe = subprocess.PIPE
    processes = [subprocess.Popen(arguments, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) for _ in range(3)]
    urls = {process.stdout.readline().strip() for process in processes}
    for process in processes:
        process.communicate()
    assert len(urls) == 1
    assert urls != {""}
    assert [process.returncode for process in processes] == [0, 0, 0]


def test_a_restart_keeps_what_was_stored(state_dir):
    with started(state_dir) as url, psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'something' AS what")
    with started(state_dir) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT what FROM kept").fetchall() == [("something",)]


def test_a_server_that_was_killed_starts_again_with_what_was_committed(state_dir):
    with started(state_dir) as url:
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 'something' AS what")
        master = int((state_dir / "postgres" / "postmaster.pid").read_text().split()[0])
        subprocess.run(["kill", "-QUIT", str(master)], check=True)
    with started(state_dir) as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT what FROM kept").fetchall() == [("something",)]


def test_a_state_directory_that_cannot_be_made_is_told_so(tmp_path):
    (tmp_path / "file").write_text("in the way")
    code = (
        "import sys; from pathlib import Path; from monitor.store.embedded_postgres import embedded_database; "
        "from monitor.core.errors import OutOfReach\n"
        "try: embedded_database(Path(sys.argv[1]))\n"
        "except OutOfReach as error: print(error)"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path / "file" / "state")]
    said = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "MONITOR_DATABASE_URL" in said
