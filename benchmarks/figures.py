"""What every benchmark script shares: its options, and the JSON object of its figures."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from pathlib import Path


def options(description: str | None, short: str, **switches: str) -> argparse.Namespace:
    """`--short` and `--json`, and `switches` of the script's own, each with what it says."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true", help=short)
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there")
    for name, says in switches.items():
        parser.add_argument(f"--{name}", action="store_true", help=says)
    return parser.parse_args()


def finish(figures: dict[str, object], *, seed: int | None, path: Path | None) -> dict[str, object]:
    """The figures with seed, commit and cores, written to `path` where one is given."""
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    figures = {**figures, "seed": seed, "commit": commit.stdout.strip(), "cores": os.cpu_count()}
    if path:
        path.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return figures
