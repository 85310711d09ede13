"""The built wheel in an environment of its own, without the repository, the published weights or test tools."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.rig.commands import ROOT

NEWEST = 20  # the minor version of Python from which one is looked for downwards
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


def pythons() -> list[str]:
    """The running interpreter, and the newest one at hand."""
    installed = Path(os.environ.get("PYENV_ROOT", "/nowhere")).glob("versions/*/bin")
    folders = os.pathsep.join(chain([os.environ["PATH"]], map(str, installed)))
    for minor in range(NEWEST, sys.version_info.minor, -1):
        for folder in folders.split(os.pathsep):
            python = shutil.which(f"python3.{minor}", path=folder)
            if (
                python
                and subprocess.run([python, "-c", "import ensurepip"], check=False, capture_output=True).returncode == 0
            ):
                return [sys.executable, python]  # one that a version manager only announces does not run
    return [sys.executable]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT]
    subprocess.run([*PIP, *build], check=True)
    (built,) = folder.glob("rag_monitor-*.whl")
    return built


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not below pytest's folder: the embedded database, which root must not run, reads it as another user."""
    with tempfile.TemporaryDirectory(prefix="monitor-wheel-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(
    os.environ.get("MONITOR_REQUIRE_SERVICES") != "1",
    reason="installs all packages anew: set MONITOR_REQUIRE_SERVICES=1",
)
@pytest.mark.parametrize("python", pythons(), ids=lambda path: Path(path).name)
def test_the_demo_runs_from_the_wheel_and_the_pinned_packages_alone(python, wheel, folder):
    # this environment's pip, since to install one into each takes as long as a quarter of the packages
    subprocess.run([python, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    own = folder / "venv" / "bin"
    install = [*PIP, "--python", own / "python", "install", "--no-deps", "--no-compile"]
    subprocess.run([*install, "--require-hashes", "-r", ROOT / "requirements.lock"], check=True)
    subprocess.run([*install, wheel], check=True)
    environment = {"PATH": f"{own}:{os.environ['PATH']}", "HOME": str(folder), "COLUMNS": "200"}

    def ran(*words: str) -> str:
        ended = subprocess.run([*words], check=False, cwd=folder, env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    where = "import monitor, importlib.util as u; print(monitor.__file__, u.find_spec('onnx'), u.find_spec('torch'))"
    assert ran("python", "-c", where).split()[1:] == ["None", "None"]
    assert str(folder) in ran("python", "-c", where)
    traces = ExportTraceServiceRequest()
    traces.resource_spans.add().scope_spans.add().spans.add(trace_id=b"t" * 16, span_id=b"s" * 8, name="step")
    (folder / "traces.binpb").write_bytes(traces.SerializeToString())
    # OTLP's messages come with the program
    assert "it calls no model" in ran("sh", "-c", "monitor decode traces.binpb 2>&1")
    shown = ran("monitor", "demo")
    for verdict in ("grounded", "refusal", "self-generated"):
        assert verdict in shown
    assert "monitor alerts show negative-rate" in shown
