"""Finds texts by a SQL query. The ids come from outside and reach the database as bind values only."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence

from sqlalchemy import BindParameter, Engine, bindparam, create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DataError, SQLAlchemyError
from typing_extensions import override

from monitor.core.errors import Retriable, WrongSettings
from monitor.ingest.lookup.lookup import DocumentLookup, FoundTexts
from monitor.privacy.masking import redact

log = logging.getLogger(__name__)
_AT_ONCE = 500  # ids of one statement
_ARRAY = re.compile(r"\bany\s*\(\s*(?:cast\s*\(\s*)?:ids\b", re.IGNORECASE)
_ERROR_CHARS = 300


class SqlLookup(DocumentLookup):
    """Runs `query`, which gives rows of id and text for the bind `:ids`, on PostgreSQL or SQLite, read only.

    `WHERE id IN :ids` works on both, `WHERE id = ANY(:ids)` on PostgreSQL. `timeout` in seconds bounds the connection
    and, on PostgreSQL, each statement.

    Raises:
        WrongSettings: the URL is malformed or of another database.
    """

    def __init__(self, url: str, query: str, *, timeout: float) -> None:
        self._engine = _engine(url, timeout)
        ids: BindParameter[object] = bindparam("ids", expanding=_ARRAY.search(query) is None)
        self._query = text(query).bindparams(ids)
        self._database = f"SQL on {self._engine.url.host or self._engine.url.database or 'localhost'}"

    @override
    def texts(self, app: str, ids: Sequence[str]) -> Mapping[str, str]:
        found = FoundTexts(self._database)
        try:
            with self._engine.connect() as connection:
                for start in range(0, len(ids), _AT_ONCE):
                    wanted = set(ids[start : start + _AT_ONCE])
                    rows = connection.execute(self._query, {"ids": sorted(wanted)})
                    if len(rows.keys()) != len(("id", "text")):
                        raise Retriable(f"{self._database}: the query must give two columns, id and text")
                    for key, value in rows:
                        if str(key) in wanted and isinstance(value, str) and not found.add(str(key), value):
                            return found.by_id
        except DataError as error:  # an id that the query does not take, which comes from outside, is no outage
            log.warning("document look-up: %s: %s", self._database, _words(error))
        except SQLAlchemyError as error:
            raise Retriable(f"{self._database}: {_words(error)}") from None
        return found.by_id

    @override
    def describe(self) -> str:
        return self._database

    @override
    def close(self) -> None:
        self._engine.dispose()


def _words(error: SQLAlchemyError) -> str:
    """The database's own words, masked: they may hold an id."""
    cause = getattr(error, "orig", None) or error
    return redact(" ".join(str(cause).split()))[:_ERROR_CHARS]


def _engine(url: str, timeout: float) -> Engine:
    try:
        parsed = make_url(url)
        name = parsed.get_backend_name()
        if name in {"postgresql", "postgres"}:
            options = f"-c statement_timeout={int(timeout * 1000)} -c default_transaction_read_only=on"
            return create_engine(
                parsed.set(drivername="postgresql+psycopg"),
                pool_size=2,
                max_overflow=0,
                pool_timeout=timeout,
                pool_pre_ping=True,
                hide_parameters=True,
                connect_args={"connect_timeout": max(2, int(timeout)), "options": options},
                execution_options={"stream_results": True, "max_row_buffer": 100},
            )
        if name == "sqlite":
            engine = create_engine(
                parsed,
                pool_size=2,
                max_overflow=0,
                pool_timeout=timeout,
                hide_parameters=True,
                connect_args={"timeout": timeout},
            )
            event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA query_only = ON"))
            return engine
    except (ArgumentError, ValueError, TypeError):
        raise WrongSettings("the look-up's database URL is malformed") from None
    raise WrongSettings(
        f"the look-up reads PostgreSQL and SQLite, not {name}; for others use an HTTP address or a file of JSON lines"
    )
