"""What every store shares, on a real server."""

from __future__ import annotations

import psycopg

from monitor.store.database import advisory_lock

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
