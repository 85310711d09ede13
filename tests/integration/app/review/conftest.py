"""The reviews of a test's database, and the application."""

from __future__ import annotations

import pytest

from monitor.app.wiring.application import Application
from monitor.core.settings.load import load_settings
from monitor.store.review.labels import Reviews
from tests.factories.answers import clock
from tests.rig.store.keys import give_key


@pytest.fixture
def reviews(engine):
    return Reviews(engine)


@pytest.fixture
def application(database, monkeypatch, tmp_path):
    give_key(tmp_path / "state")
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_EMBEDDING__PROVIDER", "hash")
    with Application(load_settings(), now=clock) as application:
        yield application
