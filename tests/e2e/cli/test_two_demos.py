"""Two demos at once in one installation: the second would empty the database under the first."""

from __future__ import annotations

import fcntl
from pathlib import Path

import pytest


@pytest.mark.parametrize(("arguments", "folder"), [((), "demo"), (("--probe",), "demo-probe")])
def test_a_demo_that_is_at_work_is_left_alone(fresh, arguments, folder):
    own = Path(fresh.settings["STATE_DIR"]) / folder
    own.mkdir()
    with (own / "demo.lock").open("w") as other:  # as a demo that plays holds it
        fcntl.flock(other, fcntl.LOCK_EX)
        ended = fresh.run("demo", *arguments, "--plain", EMBEDDING__PROVIDER="hash")
    assert ended.returncode == 2
    assert f"another demo is at work in {own}" in ended.stderr
    assert "support bot" not in ended.stdout
