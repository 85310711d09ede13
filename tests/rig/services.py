"""Services that all processes of a test run share: the first that needs one starts it, and it ends with the run."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import NoReturn

import pytest

from tests.rig.installation import ROOT


def missing(service: str) -> NoReturn:
    """Skips the test, or the module being loaded, with what to do about it; fails it where services are required."""
    if os.environ.get("MONITOR_REQUIRE_SERVICES") == "1":
        pytest.fail(service, pytrace=False)
    pytest.skip(service, allow_module_level=True)


class Shared:
    """What the processes of a run share. It lies in a folder that the process makes which starts the others."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def once(self, name: str, make: Callable[[], str]) -> str:
        """What `make` returned to the first process that asked; the others wait for it."""
        answer = self.folder / f"{name}.answer"
        with (self.folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not answer.exists():
                answer.write_text(make(), encoding="utf-8")
        return answer.read_text(encoding="utf-8")

    def service(self, name: str, program: str, *arguments: object) -> str:
        """The line that a Python program prints once it serves.

        The program is started once in a run. It ends when its standard input does, which is when the run ends.
        """
        return self.once(name, lambda: self._start(name, program, *arguments))

    def _start(self, name: str, program: str, *arguments: object) -> str:
        log = self.folder / f"{name}.log"
        with (self.folder / f"{name}.alive").open("w") as alive, log.open("w") as errors, self._life() as life:
            fcntl.flock(alive, fcntl.LOCK_EX)  # held by the program for as long as it runs
            process = subprocess.Popen(
                [sys.executable, "-c", program, *map(str, arguments)],
                cwd=ROOT,
                stdin=life,
                stdout=subprocess.PIPE,
                stderr=errors,
                pass_fds=[alive.fileno()],
                text=True,
            )
        Thread(target=process.wait, daemon=True).start()  # reaps it at the end of the run
        with process.stdout as said:
            line = said.readline().strip()
        if not line:
            process.wait()
            missing(log.read_text(encoding="utf-8").strip())
        return line

    @contextmanager
    def _life(self) -> Iterator[int]:
        """The end of a pipe that is closed when the first process of the run ends, however it ends."""
        descriptor = os.open(self.folder / "life", os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(descriptor, True)
        try:
            yield descriptor
        finally:
            os.close(descriptor)
