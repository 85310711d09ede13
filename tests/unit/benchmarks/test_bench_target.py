"""`make bench` runs every benchmark."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
BENCHMARKS = ROOT / "benchmarks"


def test_make_bench_runs_every_script():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    listed = re.search(r"^BENCHMARKS := (.*)$", makefile, re.MULTILINE)
    assert listed is not None
    runnable = {
        path.relative_to(BENCHMARKS).with_suffix("").as_posix()
        for path in BENCHMARKS.rglob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    assert sorted(listed[1].split()) == sorted(runnable - {"judge/ragas_run"})  # ragas_run runs in a venv of its own
