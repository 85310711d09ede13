"""Measures what it takes to start: processor time and wall time of commands that have next to nothing to do.

    python benchmarks/start/run.py [--json PATH] [--short]

The commands take turns with `python -c pass`, so that what else the machine does meets all of them alike: read the
ratios. Figures are medians of the rounds; a ratio is that of one round's processor times. The database is empty, in
this release's form, and its server runs already. *Nothing compiled* is the first start after an installation that has
compiled no module.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.databases import temporary_database
from benchmarks.figures import finish, options
from monitor.store.database import connect
from monitor.store.migrate import migrate

BARE = "python -c pass"
NOTHING_COMPILED = "monitor --help, nothing compiled"
MONITOR = [sys.executable, "-m", "monitor"]
COMMANDS = (
    "--version",
    "--help",
    "alerts --help",
    "replay --help",
    "docs",
    "settings",
    "rules check",
    "alerts list",
    "deadletters list",
    "pending list",
    "ledger",
    "tokens list",
    "report list",
    "review next",
)


def main() -> None:
    given = options(__doc__, short="one round: shows that it works")
    rounds = 1 if given.short else 7
    with temporary_database() as url, tempfile.TemporaryDirectory() as folder:
        engine = connect(url)
        migrate(engine)
        engine.dispose()
        environment = {**os.environ, "MONITOR_DATABASE_URL": url, "MONITOR_STATE_DIR": folder}
        rows = measured(rounds, environment)
    print(f"{'':34} processor s   wall s    times `{BARE}`")
    for name, row in rows.items():
        print(f"{name:34} {row['processor_seconds']:11.2f} {row['wall_seconds']:8.2f} {row['ratio']:12.1f}")
    finish({"rounds": rounds, "commands": rows}, seed=None, path=given.json)


def measured(rounds: int, environment: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Medians by command."""
    lines = {BARE: [sys.executable, "-c", "pass"]}
    lines |= {f"monitor {command}": [*MONITOR, *command.split()] for command in COMMANDS}
    for line in lines.values():
        _run(line, environment)  # compiles, and brings files into memory
    taken: dict[str, list[tuple[float, float]]] = {}
    for _ in range(rounds):
        for name, line in lines.items():
            taken.setdefault(name, []).append(_run(line, environment))
        with tempfile.TemporaryDirectory() as compiled:
            anew = {**environment, "PYTHONPYCACHEPREFIX": compiled}
            taken.setdefault(NOTHING_COMPILED, []).append(_run([*MONITOR, "--help"], anew))
    return {
        name: {
            "processor_seconds": median(processor for processor, _ in times),
            "wall_seconds": median(wall for _, wall in times),
            "ratio": median(ours[0] / theirs[0] for ours, theirs in zip(times, taken[BARE], strict=True)),
        }
        for name, times in taken.items()
    }


def _run(line: Sequence[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Processor and wall time, in seconds, of a process with its children."""
    begun = perf_counter()
    with Path(os.devnull).open("wb") as nothing:
        streams = [(os.POSIX_SPAWN_DUP2, nothing.fileno(), stream) for stream in (1, 2)]
        pid = os.posix_spawn(line[0], line, environment, file_actions=streams)
        _, status, usage = os.wait4(pid, 0)
    took = perf_counter() - begun
    assert os.waitstatus_to_exitcode(status) == 0, f"{' '.join(line)} failed"
    return usage.ru_utime + usage.ru_stime, took


if __name__ == "__main__":
    main()
