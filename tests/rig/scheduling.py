"""Which test process runs what: a file's tests stay together, long ones begin first, and no process waits for another.

Without this, the longest file would begin last and be waited for by all others.
"""

from __future__ import annotations

import fcntl
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

# Files whose tests take so long, and share so little, that each test is handed out by itself.
ONE_BY_ONE = (
    "tests/integration/ingest/kafka/test_faults.py",
    "tests/integration/store/audit/test_tamper.py",
    "tests/integration/alert/notify/test_faults.py",
)
# What begins first, longest first; the rest follows as it was collected, unit tests last.
FIRST = (
    "tests/integration/ingest/kafka/test_faults.py",
    "tests/integration/store/audit/test_tamper.py",
    "tests/integration/ingest/kafka/test_three_brokers.py",
    "tests/e2e/",
    "tests/integration/ingest/kafka/",
    "tests/integration/alert/notify/test_faults.py",
    "tests/integration/rig/",
    "tests/integration/",
    "tests/golden/",
)


def unit_of_work(nodeid: str) -> str:
    """The tests that one process runs together have the same."""
    path = nodeid.partition("::")[0]
    return nodeid if path in ONE_BY_ONE else path


def _place(item: pytest.Item) -> int:
    return next((place for place, start in enumerate(FIRST) if item.nodeid.startswith(start)), len(FIRST))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Has one process compile the tests, for most of its time; the others read what it has made of them."""
    worker = getattr(session.config, "workerinput", None)
    if worker is None:
        return (yield)
    with _after_the_first(Path(worker["shared"])):
        return (yield)


@contextmanager
def _after_the_first(folder: Path) -> Iterator[None]:
    """The first process that comes here is alone in the block; the others follow, all at once."""
    with (folder / "collecting.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "collected").exists():
            yield
            (folder / "collected").touch()
            return
    yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):
        items.sort(key=_place)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415  only where there are several processes

    class ByUnitOfWork(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of_work(nodeid)

    config.option.loadscopereorder = False
    return ByUnitOfWork(config, log)
