"""A reporter that sends at once, to a scripted monitor."""

from __future__ import annotations

import pytest

from monitor.client import delivery
from tests.servers import interactions


@pytest.fixture
def quick(monkeypatch):
    """Neither a batch nor a second attempt waits for long."""
    monkeypatch.setattr(delivery, "LINGER", 0.05)
    monkeypatch.setattr(delivery, "FIRST_PAUSE", 0.01)


@pytest.fixture
def door():
    with interactions.door() as running:
        yield running
