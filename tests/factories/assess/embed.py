"""What several embedding tests need."""

from __future__ import annotations

import os

import pytest

from monitor.assess.embed.weights import PublishedModel, published_model
from monitor.core.errors import WrongSettings


def published_weights() -> PublishedModel:
    """The installed weights; without them the test is skipped, or fails where services are required."""
    try:
        return published_model()
    except WrongSettings as missing:
        if os.environ.get("MONITOR_REQUIRE_SERVICES") == "1":
            raise
        pytest.skip(str(missing))
