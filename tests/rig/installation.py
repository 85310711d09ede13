"""The console command as a person runs it: a process of its own, told everything by its arguments and environment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.rig.commands import ROOT, Command, run, started_anew
from tests.rig.waiting import until

RULES = """
grouping: {wait: 0s, interval: 0s}
rules:
  - name: too-many-refusals
    signal: {rate: refusal}
    above: 0.5
    window: 5m
    min_samples: 4
    lateness: 0s
    severity: critical
    annotations: {summary: The bot refuses.}
"""
REFUSAL = "I am sorry, but I cannot find any information about that in the documents provided."


class Running:
    """A command that was started and goes on; what it says lies in files, so that no pipe fills up."""

    def __init__(self, process: Command | subprocess.Popen[str], out: Path, err: Path) -> None:
        self.process = process
        self._out, self._err = out, err

    @property
    def out(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        return self._err.read_text(encoding="utf-8")

    def write(self, text: str) -> None:
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def terminate(self) -> int:
        """Sends SIGTERM and gives the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        until(f"the command ends; it said\n{self.err}", lambda: self.process.poll() is not None)
        return self.process.returncode


class Installation:
    """Settings of one installation, and the commands run under them."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.settings = settings
        self._started: list[Running] = []

    def environment(self, over: dict[str, str]) -> dict[str, str]:
        named = {f"MONITOR_{name}": value for name, value in {**self.settings, **over}.items()}
        return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", "NO_COLOR": "1", **named}

    def run(
        self, *arguments: object, stdin: bytes = b"", columns: int = 200, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end, as on a terminal of so many columns."""
        environment = {**self.environment(settings), "COLUMNS": str(columns)}
        return run([str(argument) for argument in arguments], environment=environment, folder=self.folder, stdin=stdin)

    def json(self, *arguments: object, stdin: bytes = b"", code: int = 0, **settings: str) -> Any:
        """What a command with `--json` prints."""
        ended = self.run(*arguments, "--json", stdin=stdin, **settings)
        assert ended.returncode == code, ended.stderr
        return json.loads(ended.stdout)

    def start(self, *arguments: object, anew: bool = False, **settings: str) -> Running:
        """Starts a command that goes on until it is told to end; `anew`: by an interpreter that is started for it."""
        number, start = len(self._started), started_anew if anew else Command
        out, err = self.folder / f"{number}.out", self.folder / f"{number}.err"
        with out.open("w") as out_file, err.open("w") as err_file:
            process = start(
                [str(argument) for argument in arguments],
                environment=self.environment(settings),
                folder=self.folder,
                out=out_file,
                err=err_file,
            )
        self._started.append(Running(process, out, err))
        return self._started[-1]

    def close(self) -> None:
        for running in self._started:
            running.process.kill()
            with suppress(BrokenPipeError):  # what it has not read of its input is lost
                running.process.stdin.close()
            running.process.wait()


def installed(encoder_cache: Path, folder: Path, **settings: str) -> Installation:
    """One whose encoder was built before."""
    state = folder / "state"
    state.mkdir(exist_ok=True)
    (state / "cache").symlink_to(encoder_cache)
    return Installation(folder, STATE_DIR=str(state), **settings)
