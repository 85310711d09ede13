"""The steps of docker/Dockerfile, run without Docker, and the program in what they make."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rig.commands import ROOT
from tests.rig.services import missing

INTERACTIONS = ROOT / "tests/golden/interactions.jsonl"
# Its database, its model, its key and its checkpoints; then what must not be possible.
COMMANDS = """
set -e
monitor replay - --app golden >/dev/null
monitor audit seal
monitor audit verify
test "$(id -u)" = 10001
test -z "${HOME:-}"
! touch /opt/monitor/written /etc/rag-monitor/written /written 2>/dev/null
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="monitor-image-") as name:
        yield Path(name)


@pytest.mark.skipif(
    os.environ.get("MONITOR_REQUIRE_SERVICES") != "1",
    reason="installs all packages anew: set MONITOR_REQUIRE_SERVICES=1",
)
def test_the_image_works_as_a_user_without_a_home_on_a_read_only_root(folder):
    if os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("setpriv"):
        missing("root, unshare and setpriv are needed, as on Linux with util-linux: they stand in for Docker")
    tool = [sys.executable, ROOT / "tools/image.py", "--python", Path(sys.base_prefix) / "bin", folder]
    ended = subprocess.run(
        [*tool, "--", "sh", "-c", COMMANDS],
        check=False,
        capture_output=True,
        text=True,
        input=INTERACTIONS.read_text(encoding="utf-8"),
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "No broken requirements found." in ended.stdout
    health = subprocess.run([*tool, "--", "monitor", "health"], check=False, capture_output=True, text=True)
    assert health.returncode == 3  # nothing runs
    assert "http://127.0.0.1:9464 or http://127.0.0.1:8080" in health.stderr
