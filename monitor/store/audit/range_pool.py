"""Checks ranges of leaves in several processes, which share one snapshot of the database."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

import psycopg
from sqlalchemy import Connection, Engine, text

from monitor.store.audit.checks.accounts import Accounts
from monitor.store.audit.checks.ranges import RangeResult, RangeTask, check_range
from monitor.store.database import plain_url, read_any_time, retriable


@contextmanager
def range_pool(
    engine: Engine, connection: Connection, processes: int, accounts: Accounts
) -> Iterator[ProcessPoolExecutor]:
    """Processes whose connections see the same snapshot as `connection`."""
    snapshot = connection.scalar(text("SELECT pg_export_snapshot()"))
    url = plain_url(engine.url.render_as_string(hide_password=False).replace("+psycopg", "", 1))
    given = (url, snapshot, accounts)
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=_open, initargs=given)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


_worker: list[tuple[psycopg.Connection, Accounts]] = []  # what this process works with, where it belongs to the pool
_ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000  # collecting more often gains nothing: rows and records have no cycles


def _open(url: str, snapshot: str, accounts: Accounts) -> None:
    gc.set_threshold(_ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)
    connection = psycopg.connect(url, options="-c timezone=UTC", autocommit=False)
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    read_any_time(connection)
    connection.execute(f"SET TRANSACTION SNAPSHOT '{snapshot}'")
    _worker.append((connection, accounts))


def in_worker(task: RangeTask) -> RangeResult:
    """`check_range` within the snapshot of the pool; only its processes can call it."""
    connection, accounts = _worker[0]
    with retriable():
        return check_range(connection, task, accounts)
