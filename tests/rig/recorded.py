"""Data of chatbots that are no part of the project, and lie beside it where they may be used."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.rig.commands import ROOT
from tests.rig.services import missing

DATA = ROOT / os.environ.get("MONITOR_DATA_DIR", "../shared/data")  # from a checkout, wherever the tests run from


def traces() -> Path:
    """The folder of the recorded traces, `traces` beside the labelled answers.

    Without any data the test, or the module that asks while it is loaded, is skipped: only their owner has them. Where
    answers are and traces are not, somebody has lost these, and a run that requires its services fails.
    """
    folder = DATA.parent / "traces"
    if any(folder.glob("*.expected.json")):
        return folder
    if DATA.is_dir() or "MONITOR_DATA_DIR" in os.environ:
        missing(f"no recorded traces are in {folder}, beside the labelled answers")
    pytest.skip(
        "no recorded traces: they are no part of the project; MONITOR_DATA_DIR names the folder beside them",
        allow_module_level=True,
    )
