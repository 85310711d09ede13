"""The console command as a person runs it: a process of its own, told everything by its arguments and environment."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.rig.installation import Installation, installed
from tests.rig.waiting import until


@pytest.fixture
def monitor(encoder_cache: Path, database: str, tmp_path: Path) -> Iterator[Installation]:
    """MiniLM, and a database of the server that all tests share."""
    installation = installed(encoder_cache, tmp_path, DATABASE_URL=database)
    yield installation
    installation.close()


@contextmanager
def fresh_installation(encoder_cache: Path) -> Iterator[Installation]:
    """Every default, so an embedded PostgreSQL of its own, without a table in it."""
    folder = Path(tempfile.mkdtemp(prefix="monitor-e2e-"))  # not below pytest's folder, as in tests/conftest.py
    folder.chmod(0o755)  # where root's database may lie
    installation = installed(encoder_cache, folder)
    yield installation
    installation.close()
    shutil.rmtree(folder)


@pytest.fixture
def fresh(encoder_cache: Path, postgres: str) -> Iterator[Installation]:  # noqa: ARG001  skips where that one does
    with fresh_installation(encoder_cache) as installation:
        yield installation


@pytest.fixture
def event() -> Callable[..., str]:
    """One line of a chatbot's log."""

    def line(id_: str, **over: object) -> str:
        known = {
            "id": id_,
            "app": "support-bot",
            "question": "How long are deleted snapshots kept?",
            "answer": "Deleted snapshots are kept for 30 days.",
            "retrieved_documents": ["Deleted snapshots are kept for 30 days, then they are purged for good."],
        }
        return json.dumps({**known, **over}) + "\n"

    return line


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A file that a chatbot will append to."""
    return tmp_path / "answers.jsonl"


@pytest.fixture
def stored(rows: Callable[..., Any]) -> Callable[[int], None]:
    """Waits until so many interactions are stored."""

    def wait(number: int) -> None:
        until(f"{number} are stored", lambda: rows("SELECT count(*) FROM interaction") == [(number,)])

    return wait
