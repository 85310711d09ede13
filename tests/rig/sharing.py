"""The folder through which the processes of a test run share services, from the beginning of the run to its end."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.rig.services import Shared

_RUN = pytest.StashKey["Run"]()
_PREFIX, _OWNED = "monitor-run-", "owned"


class Run:
    """The folder of a run, and the end of the pipe on which its services hang."""

    def __init__(self) -> None:
        # not below pytest's own folder: another pytest of the same user may change the rights on that one's parents
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        new = self.folder / "new"
        self._owned = new.open("w")
        fcntl.flock(self._owned, fcntl.LOCK_EX)  # until this process ends, however it ends
        new.rename(self.folder / _OWNED)
        os.mkfifo(self.folder / "life")
        self._life = os.open(self.folder / "life", os.O_RDWR)

    def close(self) -> None:
        """Ends the services, and waits for them."""
        os.close(self._life)
        for alive in self.folder.glob("*.alive"):
            with alive.open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(self.folder)
        self._owned.close()


def remove_abandoned(where: Path) -> None:
    """Removes the folders of runs that were killed: no process holds the lock of the run or of a service in it."""
    for folder in where.glob(f"{_PREFIX}*"):
        locks = [folder / _OWNED, *folder.glob("*.alive")]
        with suppress(OSError):  # of another user, without the lock yet, or gone meanwhile
            if not any(map(_is_held, locks)):
                shutil.rmtree(folder)


def _is_held(lock: Path) -> bool:
    with lock.open() as opened:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        remove_abandoned(Path(tempfile.gettempdir()))
        config.stash[_RUN] = Run()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["shared"] = str(node.config.stash[_RUN].folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUN in config.stash:
        config.stash[_RUN].close()


@pytest.fixture(scope="session")
def shared(pytestconfig: pytest.Config) -> Shared:
    """What all processes of this run share."""
    worker = getattr(pytestconfig, "workerinput", None)
    return Shared(Path(worker["shared"]) if worker else pytestconfig.stash[_RUN].folder)
