"""The dead letters of a test's database, and the application."""

from __future__ import annotations

import pytest

from monitor.store.deadletters.dead_letters import DeadLetters


@pytest.fixture
def letters(engine):
    return DeadLetters(engine)
