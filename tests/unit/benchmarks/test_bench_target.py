"""`make bench` runs every benchmark, and none of them imports what is gone."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
BENCHMARKS = ROOT / "benchmarks"
IN_A_VENV_OF_ITS_OWN = "judge/ragas_run"
MEASURES_NOTHING = "people/traffic"  # it writes the events that others measure with
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in (BENCHMARKS, ROOT / "tools")
    for path in folder.rglob("*.py")
    if not path.with_suffix("").as_posix().endswith(IN_A_VENV_OF_ITS_OWN)
)


def test_make_bench_runs_every_script():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    listed = re.search(r"^BENCHMARKS := (.*)$", makefile, re.MULTILINE)
    assert listed is not None
    runnable = {
        path.relative_to(BENCHMARKS).with_suffix("").as_posix()
        for path in BENCHMARKS.rglob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    assert sorted(listed[1].split()) == sorted(runnable - {IN_A_VENV_OF_ITS_OWN, MEASURES_NOTHING})


@pytest.mark.parametrize("module", MODULES)
def test_every_benchmark_and_tool_can_be_imported(module):
    importlib.import_module(module)
