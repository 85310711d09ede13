"""A database with two weeks of traffic, and the report of the second."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest
from sqlalchemy.engine import make_url

from monitor.app.wiring.application import Application
from monitor.core.settings.load import load_settings
from monitor.report.weekly.content import content
from monitor.store.interaction.writer import Writer
from monitor.store.report.weekly import WeeklyFacts
from tests.factories.answers import a_batch, an_assessment, clock
from tests.factories.report.weekly_traffic import APP, OTHER_APP, WEEK, assessments, batches, watch
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.weekly_textbook import MONDAY_SIX, asked


@pytest.fixture(scope="session")
def filled_template(new_database, migrated_template):
    """Name of a database with all rows, to copy."""
    url = new_database(migrated_template)
    writer = Writer(url, clock, queue_key=QUEUE_KEY)
    for batch in batches(list(assessments())):
        writer.write(batch)
    writer.write(a_batch(*assessments(app=OTHER_APP, per_day=4, seed=9)))
    waiting = [an_assessment(id=f"late-{n}", app=APP, occurred_at=WEEK.start + n * timedelta(days=2)) for n in range(5)]
    writer.write(a_batch(pending=tuple(a.interaction for a in waiting)))
    writer.close()
    with psycopg.connect(url) as connection:
        watch(connection)
        connection.execute("UPDATE dead_letter SET received_at = %s", (WEEK.start + timedelta(days=1),))
    return str(make_url(url).database)


@pytest.fixture
def database(databases, filled_template):
    """In place of the empty one."""
    with databases.lent(filled_template) as url:
        yield url


@pytest.fixture
def application(database, monkeypatch):
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_EMBEDDING__PROVIDER", "hash")
    with Application(load_settings(), now=lambda: MONDAY_SIX) as application:
        yield application


@pytest.fixture
def report(engine):
    return content(WeeklyFacts(engine).facts(APP, WEEK))


@pytest.fixture
def now(database):
    return asked(database, WEEK)


@pytest.fixture
def before(database):
    return asked(database, WEEK.before)
