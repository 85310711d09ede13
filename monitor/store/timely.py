"""Statements that people wait for: one that takes too long is cut off, and the page says what to narrow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from monitor.errors import MonitorError
from monitor.store.database import retriable

PATIENCE_MS = 1_000


class TooSlow(MonitorError):
    """What was asked for takes too long; the message says what to narrow."""


@contextmanager
def timely(engine: Engine, narrow: str, *, patience_ms: int = PATIENCE_MS) -> Iterator[Connection]:
    """A transaction that only reads, whose statements take `patience_ms` at most each.

    Raises:
        TooSlow: one took longer; `narrow` is what it says.
        Retriable, Fatal: as `retriable` does.
    """
    with retriable(), engine.connect() as connection:
        connection.execute(text(f"SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = {patience_ms:d}"))
        connection.execute(text("SET LOCAL jit = off"))  # compiling would take longer than these statements do
        try:
            yield connection
        except DBAPIError as error:
            if isinstance(error.orig, psycopg.errors.QueryCanceled):
                raise TooSlow(narrow) from None
            raise
