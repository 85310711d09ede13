"""A file and its reader."""

from __future__ import annotations

import pytest

from tests.rig.ingest.following import Reader


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


@pytest.fixture
def reader(path):
    opened = Reader(path)
    yield opened
    opened.source.close()
