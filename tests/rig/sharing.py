"""The folder through which the processes of a test run share services, from the beginning of the run to its end."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.rig.services import Shared

_RUN = pytest.StashKey["Run"]()


class Run:
    """The folder of a run, and the end of the pipe on which its services hang."""

    def __init__(self) -> None:
        # not below pytest's own folder: another pytest of the same user may change the rights on that one's parents
        self.folder = Path(tempfile.mkdtemp(prefix="monitor-run-"))
        os.mkfifo(self.folder / "life")
        self._life = os.open(self.folder / "life", os.O_RDWR)

    def close(self) -> None:
        """Ends the services, and waits for them."""
        os.close(self._life)
        for alive in self.folder.glob("*.alive"):
            with alive.open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(self.folder)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
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
