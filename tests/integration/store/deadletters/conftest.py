"""Fixtures: the dead letters of the test database, and the application."""

from __future__ import annotations

import pytest

from monitor.store.deadletters.dead_letters import DeadLetters


@pytest.fixture
def letters(engine):
    return DeadLetters(engine)
