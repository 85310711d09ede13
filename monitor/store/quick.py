"""Statements that somebody waits for: cut off after a second, with a word on what would make them quicker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from monitor.core.errors import Retriable
from monitor.store.database import retriable

# The planner's costs of wide rows look large; compiling and starting workers would take longer than the statement does.
_BOUNDS = (
    "SET LOCAL statement_timeout = '{limit}ms'; SET LOCAL lock_timeout = '1s'; SET LOCAL jit = off; "
    "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_seqscan = off"
)


class TakesTooLong(Retriable):
    """What was asked for would take longer than anybody waits; the message says what to narrow."""


@contextmanager
def quick(engine: Engine, narrow: str, *, milliseconds: int = 1_000) -> Iterator[Connection]:
    """A read-only transaction each of whose statements has so long; `narrow` says what to ask less of.

    Raises:
        TakesTooLong: a statement took longer.
        Retriable, Fatal: as `retriable` does.
    """
    with retriable(), engine.connect() as opened:
        connection = opened.execution_options(postgresql_readonly=True)
        connection.execute(text(_BOUNDS.format(limit=milliseconds)))
        try:
            yield connection
        except DBAPIError as error:
            if isinstance(error.orig, psycopg.errors.QueryCanceled):
                raise TakesTooLong(f"this would take too long: {narrow}") from None
            raise
