from __future__ import annotations

import pytest

from tests.rig.web.door import a_door


@pytest.fixture(scope="module")
def shared_door():
    """One server for the tests of a module; each test clears what it has kept."""
    with a_door() as running:
        yield running


@pytest.fixture
def door(shared_door):
    shared_door.intake.trouble = None
    shared_door.intake.collected.clear()
    shared_door.intake.messages.clear()
    return shared_door
