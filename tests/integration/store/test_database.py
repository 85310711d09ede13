"""What every store shares, on a real server."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy import text

from monitor.core.errors import MonitorError, Retriable
from monitor.store.collect.source import _SESSION as SOURCE_SESSION
from monitor.store.collect.store import _SESSION as COLLECT_SESSION
from monitor.store.database import WRITER_SESSION, advisory_lock, retriable
from tests.rig.store.writing import stay_in_pipeline_mode

NUMBER = 4711


def test_a_lock_is_free_as_soon_as_its_block_has_ended(engine, database):
    with psycopg.connect(database, autocommit=True) as looking:
        for _ in range(100):
            with advisory_lock(engine, NUMBER) as ours:
                assert ours
            assert looking.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone() == (0,)


def test_a_lock_is_held_by_one_at_a_time(engine):
    with advisory_lock(engine, NUMBER) as ours, advisory_lock(engine, NUMBER) as theirs:
        assert (ours, theirs) == (True, False)


def test_a_lock_whose_session_was_ended_ends_without_an_error(engine, rows):
    with advisory_lock(engine, NUMBER) as ours:
        rows("SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE locktype = 'advisory' AND objid = %s", NUMBER)
        assert ours
    with advisory_lock(engine, NUMBER) as ours:
        assert ours


def test_sessions_notice_a_network_that_was_cut(engine, database):
    """Only libpq can be asked here: it sets this for TCP, and these connections use a socket of this machine."""

    def given(info):
        asked = info.get_parameters()
        return {name: asked[name] for name in asked if name.startswith(("keepalives", "tcp_user"))}

    ours = {"keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3", "tcp_user_timeout": "30000"}
    with engine.connect() as connection:
        assert given(connection.connection.driver_connection.info) == ours
    for of in (SOURCE_SESSION, COLLECT_SESSION, WRITER_SESSION):
        with psycopg.connect(database, **of) as connection:
            assert given(connection.info) == ours


def test_the_pool_keeps_no_connection_that_stays_in_pipeline_mode(engine):
    def transaction():
        with retriable(), engine.begin() as connection:
            stay_in_pipeline_mode(connection.connection.driver_connection)

    with pytest.raises(Retriable, match="pipeline mode"):
        transaction()
    for _ in range(3):
        with engine.begin() as connection:
            assert connection.scalar(text("SELECT 1")) == 1


# --- errors ---


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("INSERT INTO api_token (id, name) VALUES (:value, :value)", 'null value in column "role" of relation'),
        ("SELECT CAST(:value AS integer)", "invalid input syntax for type integer"),
        ("INSERT INTO rollup_label VALUES (:value, :value), (:value, :value)", "duplicate key value violates unique"),
    ],
)
def test_an_error_repeats_no_value(engine, statement, said):
    with pytest.raises(MonitorError) as caught, retriable(), engine.begin() as connection:
        connection.execute(text(statement), {"value": "ada@example.org"})
    assert said in str(caught.value)
    assert "ada" not in str(caught.value)


def test_an_error_of_a_copy_repeats_no_row(writer):
    refused = pytest.raises(MonitorError)
    into = "COPY ingest_minute FROM STDIN"
    with refused as caught, writer.transaction() as connection, connection.cursor().copy(into) as copy:
        copy.write_row(("ada@example.org", "x", "1", "1"))
    assert "invalid input syntax" in str(caught.value)
    assert "ada" not in str(caught.value)
