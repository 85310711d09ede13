"""An application whose spans and events go to a database of the test's own."""

from __future__ import annotations

import pytest

from monitor.app.wiring.application import Application
from monitor.core.settings.load import load_settings
from tests.factories.answers import clock
from tests.rig.store.keys import give_key


@pytest.fixture
def application(database, tmp_path, monkeypatch):
    give_key(tmp_path / "state")
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_EMBEDDING__PROVIDER", "hash")
    monkeypatch.setenv("MONITOR_REDACTION__KINDS", '["e-mail"]')
    with Application(load_settings(), now=clock) as application:
        application.prepare()
        yield application
