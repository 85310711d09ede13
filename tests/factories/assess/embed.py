"""What several embedding tests need."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from monitor.assess.embed import weights
from monitor.core.errors import WrongSettings


def published_weights() -> Path:
    """The installed weights; without them the test is skipped, or fails where services are required."""
    try:
        return weights.published_weights()
    except WrongSettings as missing:
        if os.environ.get("MONITOR_REQUIRE_SERVICES") == "1":
            raise
        pytest.skip(str(missing))
