"""Both outboxes: in memory and in Postgres."""

from __future__ import annotations

import pytest

from monitor.simulate.fakes.outbox import MemoryOutbox
from monitor.store.alert.outbox import PostgresOutbox


@pytest.fixture(params=["memory", "postgres"])
def backend(request):
    return request.param


@pytest.fixture
def outbox(backend, request):
    return MemoryOutbox() if backend == "memory" else PostgresOutbox(request.getfixturevalue("engine"))
