"""Options and JSON output that every benchmark script shares."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from monitor.__main__ import ONE_THREAD


def options(description: str | None, short: str, **switches: str) -> argparse.Namespace:
    """Parses `--short`, `--json` and the `switches` of a script, given with their help texts."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help=short)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there")
    for name, says in switches.items():
        parser.add_argument(f"--{name}", action="store_true", help=says)
    return parser.parse_args()


def finish(figures: dict[str, object], *, seed: int | None, path: Path | None) -> dict[str, object]:
    """Adds seed, commit and cores to the figures, and writes them to `path` if there is one."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    figures = {**figures, "seed": seed, "commit": commit.stdout.strip(), "cores": os.cpu_count()}
    if path:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return figures


def in_fresh_process(work: Callable[..., Any], *arguments: object) -> Any:
    """Runs `work` in a fresh process, in which numpy's products have one thread, as in the program's."""
    os.environ |= ONE_THREAD
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()
