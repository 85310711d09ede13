"""What the commands on labels run in."""

from __future__ import annotations

import pytest

from tests.rig.installation import Installation


@pytest.fixture
def offline(tmp_path):
    """The hash embedder, and a database that nobody answers for: whoever asks it fails."""
    return Installation(
        tmp_path,
        STATE_DIR=str(tmp_path / "state"),
        EMBEDDING__PROVIDER="hash",
        DATABASE_URL="postgresql://127.0.0.1:1/nothing",
    )
