"""The real packages, a scripted model, and `monitor collect` between which the guides run."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.live.model import serving
from tests.rig.installation import ROOT
from tests.rig.services import missing
from tests.rig.waiting import until

PACKAGES = ROOT / ".venv-live"
GUIDES = ROOT / "docs" / "join"
_TURNS = """
    SELECT i.app, i.question, i.answer, i.retrieved_documents, i.model, i.conversation_id, a.verdict
    FROM interaction i LEFT JOIN assessment a ON a.app = i.app AND a.id = i.id ORDER BY i.stored_at
"""


@pytest.fixture(scope="session")
def model() -> Iterator[str]:
    """The base URL of the scripted model."""
    with serving() as url:
        yield url


@pytest.fixture
def chatbot(model: str, tmp_path: Path) -> Callable[..., str]:
    """Runs the program of a guide with the packages that the guide installs; returns what it printed."""
    python = PACKAGES / "bin" / "python"
    if not python.exists():
        missing("the packages of the guides are needed: make live installs them")

    def run(guide: str, endpoint: str) -> str:
        program = tmp_path / "chatbot.py"
        program.write_text(block("python", guide), encoding="utf-8")
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "OPENAI_BASE_URL": model,
            "OPENAI_API_BASE": model,  # LlamaIndex's name for it
            "OPENAI_API_KEY": "none",
            "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
            "PHOENIX_COLLECTOR_ENDPOINT": f"{endpoint}/v1/traces",
            "LANGFUSE_BASE_URL": endpoint,
            "LANGFUSE_PUBLIC_KEY": "pk-none",
            "LANGFUSE_SECRET_KEY": "sk-none",
            "HAYSTACK_TELEMETRY_ENABLED": "false",
        }
        done = subprocess.run(
            [python, program], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def block(language: str, guide: str, number: int = 0) -> str:
    """A code block of a guide, by its place among those of its language."""
    text = (GUIDES / f"{guide}.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)[number]


@contextmanager
def running(*command: object, environment: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended with the block."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(part) for part in command], env={**os.environ, **environment}, stdout=output, stderr=output
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait()


@contextmanager
def monitoring(*arguments: str, environment: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`monitor` with the arguments."""
    with running(sys.executable, "-m", "monitor", *arguments, environment=environment, log=log) as process:
        yield process


def awaited(holds: Callable[[], Any], log: Path) -> Any:
    """The first true answer of `holds`; the log says why there is none."""
    try:
        return until("what the guide promises is there", holds)
    except AssertionError as error:
        raise AssertionError(f"{error}; the log:\n{log.read_text(encoding='utf-8')[-4_000:]}") from None


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def listens(port: int) -> bool:
    """Whether somebody listens on this port of the machine."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def turns_of(url: str, app: str) -> list[dict[str, Any]]:
    """The stored turns of an app, each with its verdict."""
    with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
        return [row for row in connection.execute(_TURNS) if row["app"] == app]
