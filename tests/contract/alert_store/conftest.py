"""Both alert stores: in memory and in Postgres."""

from __future__ import annotations

from collections import Counter

import pytest

from monitor.simulate.fakes.alerts import MemoryAlertStore
from monitor.store.alert.alerts import PostgresAlertStore
from tests.factories.answers import a_batch


@pytest.fixture(params=["memory", "postgres"])
def backend(request):
    return request.param


@pytest.fixture
def store(backend, request):
    return MemoryAlertStore() if backend == "memory" else PostgresAlertStore(request.getfixturevalue("engine"))


@pytest.fixture
def count(backend, store, request):
    """Puts assessments where the store counts them."""

    def in_memory(*assessments):
        for a in assessments:
            it = a.interaction
            labels = {
                "app": it.app,
                "environment": it.environment,
                "model": it.model or "",
                "topic": it.tags.get("topic", ""),
            }
            shown = Counter([a.verdict, *a.reasons, *(["negative"] if a.verdict.negative else [])])
            shown.update([a.diagnosis.diagnosis] if a.diagnosis else [])
            store.count(it.occurred_at, labels, 1, **shown)

    def in_postgres(*assessments):
        request.getfixturevalue("writer").write(a_batch(*assessments))

    return in_memory if backend == "memory" else in_postgres
