"""Plays series to the alert rules about monitor itself, by promtool."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.servers.prometheus import ROOT, program

FOLDER = ROOT / "deploy" / "prometheus"
HOUR = 60  # minutes; a sample a minute
STAGE = "monitor_stage_duration_seconds"


def lasting(value: float, minutes: int = 3 * HOUR) -> str:
    return f"{value}x{minutes}"


def growing(first: float, by: float, minutes: int = 3 * HOUR) -> str:
    return f"{first}{by:+}x{minutes}"


WELL = {"monitor_up": lasting(1), "monitor_figures_age_seconds": lasting(2)}


def promtool(folder: Path, *tests: dict[str, object], every: str = "1m") -> None:
    """Plays series to the rules, which are evaluated `every` so often; fails with what promtool says."""
    known = {"rule_files": [str(FOLDER / "rules.yaml")], "evaluation_interval": every, "tests": tests}
    (folder / "test.yaml").write_text(json.dumps(known))
    done = subprocess.run(
        [program("promtool"), "test", "rules", str(folder / "test.yaml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def series(of: dict[str, str]) -> list[dict[str, str]]:
    return [{"series": name, "values": values} for name, values in of.items()]
