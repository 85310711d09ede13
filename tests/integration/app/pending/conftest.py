"""Applications whose embedder, sidecar or judge is a scripted server."""

from __future__ import annotations

import psycopg
import pytest

from monitor.app.wiring.application import Application
from monitor.core.settings.load import Settings
from tests.rig.store.keys import give_key
from tests.rig.store.workers import EVERYTHING, flow, replace_settings
from tests.rig.store.writing import ROLLUP


@pytest.fixture(autouse=True)
def _key(tmp_path):
    """Applications seal what the tests have stored."""
    give_key(tmp_path / "state")


@pytest.fixture
def control(new_database, migrated_template):
    """What a database would hold that no provider ever failed."""

    def found(settings: Settings, values: list[bytes]) -> tuple[list[tuple], list[tuple]]:
        url, patient = new_database(migrated_template), settings.sidecar.model_copy(update={"patience": 60.0})
        with Application(replace_settings(settings, database_url=url, sidecar=patient)) as application:
            flow(application, values)
        with psycopg.connect(url, options="-c timezone=UTC") as connection:
            return connection.execute(EVERYTHING).fetchall(), connection.execute(ROLLUP).fetchall()

    return found
