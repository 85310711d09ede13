"""A database for a benchmark."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from monitor.store.embedded_postgres import embedded_database


@contextmanager
def temporary_database() -> Iterator[str]:
    """The URL of an embedded PostgreSQL in a temporary folder, whose data need not outlive a crash."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)  # so that root's database lies in it too
        url = embedded_database(Path(folder))
        with psycopg.connect(url, autocommit=True) as server:
            server.execute("ALTER SYSTEM SET fsync = off")
            server.execute("SELECT pg_reload_conf()")
        yield url
