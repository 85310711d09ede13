"""Connects to Postgres, and holds what every store shares: error types, time limits, advisory locks, COPY."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from typing import Any

import psycopg
from psycopg import sql
from psycopg.adapt import Buffer, Loader
from sqlalchemy import Connection, Engine, create_engine, event, func, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from typing_extensions import override

from monitor.core.errors import Fatal, Retriable, WrongSettings

log = logging.getLogger(__name__)
QUEUE_KEY = "monitor_queue_key"  # the execution option that holds what `connect` was given
_PASSING = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.IdleInTransactionSessionTimeout,
)
_TRANSACTION_TIMEOUT = "25P04"  # of PostgreSQL 17; to psycopg an internal error
_TOO_LARGE = "54"  # class of what exceeds a limit of the server, such as a value for an index; passing to psycopg
# For alert rules: one bad plan or locked row must not keep the other rules from being evaluated.
_BOUNDS = text("SET LOCAL statement_timeout = '10s'; SET LOCAL lock_timeout = '5s'")


# By it the server notices in half a minute that this side is gone, and frees the locks of the session; operating
# systems take two hours. Without effect on a Unix socket. No options of the connection, which a pooler may refuse.
SIGNS_OF_LIFE = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"


def session(**limits: str) -> dict[str, Any]:
    """What psycopg needs for a session in UTC in which a cut network is noticed in half a minute.

    `limits` are settings of the server, such as `lock_timeout`.
    """
    asked = {"timezone": "UTC", **limits}
    return {
        "connect_timeout": 10,
        "tcp_user_timeout": 30_000,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "options": " ".join(f"-c {name}={value}" for name, value in asked.items()),
    }


# A lock or a network that does not come back becomes `Retriable`, so that a stop is noticed in the meantime. The server
# ends a transaction whose process was stopped or cut off, because others wait for the rows that it holds.
WRITER_SESSION = session(lock_timeout="10s", statement_timeout="20s", idle_in_transaction_session_timeout="10s")


def plain_url(url: str) -> str:
    """The URL in the form that libpq reads, whatever driver it names.

    Raises:
        WrongSettings: it is not a PostgreSQL URL.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.partition("+")[0] not in {"postgres", "postgresql"}:
        raise WrongSettings("MONITOR_DATABASE_URL: expected postgresql://user:password@host:port/database")
    if rest.partition("/")[0].count("@") > 1:  # libpq would take the rest of the password for the host, and print it
        raise WrongSettings("MONITOR_DATABASE_URL: write @ : / # in the password as %40 %3A %2F %23")
    return f"postgresql://{rest}"


def connect(url: str, *, overflow: int = 10, queue_key: Callable[[], bytes] | None = None) -> Engine:
    """An engine for `url` with at most 5 + `overflow` connections; opens none yet.

    `queue_key` is asked for the key of the audit queue when the first act is queued over the engine.

    Raises:
        WrongSettings: it is not a PostgreSQL URL.
    """
    try:
        engine = create_engine(
            plain_url(url).replace("postgresql://", "postgresql+psycopg://", 1),
            pool_pre_ping=True,
            hide_parameters=True,  # errors must not print values
            max_overflow=overflow,
            connect_args=session(),
            execution_options={} if queue_key is None else {QUEUE_KEY: queue_key},
        )
    except (ValueError, ArgumentError):
        raise WrongSettings("MONITOR_DATABASE_URL: the host or the port is malformed") from None
    event.listen(engine, "connect", lambda connection, _: read_any_time(connection))
    return engine


def read_any_time(connection: psycopg.Connection) -> None:
    """Has the connection read times and dates that Python lacks, as infinity, as the first or last that it has.

    Otherwise one such value, which anybody who writes to the database can leave in a row, ends every reading of it.
    """
    for name, loader in (("timestamptz", _AnyTime), ("date", _AnyDate)):
        connection.adapters.register_loader(name, loader)


class _AnyTime(Loader):
    first: datetime | date = datetime.min.replace(tzinfo=UTC)
    last: datetime | date = datetime.max.replace(tzinfo=UTC)

    def __init__(self, oid: int, context: Any = None) -> None:
        super().__init__(oid, context)
        self._load = psycopg.adapters.get_loader(oid, self.format)(oid, context).load  # type: ignore[misc]

    @override
    def load(self, data: Buffer) -> Any:
        try:
            return self._load(data)
        except psycopg.DataError:
            written = bytes(data)
            return self.first if written.startswith(b"-") or written.endswith(b"BC") else self.last


class _AnyDate(_AnyTime):
    first, last = date.min, date.max


@contextmanager
def retriable() -> Iterator[None]:
    """Raises `Retriable` for a lost or busy database, and `Fatal` for one that refuses for good.

    Deadlocks, serialisation failures, a full disk and a server that is read-only after a failover count as busy: the
    same transaction may succeed when tried again. Messages hold the server's words, never the values of a statement.
    """
    try:
        yield
    except PoolTimeout:
        raise Retriable("database: all connections of this process are taken") from None
    except UnicodeEncodeError:  # psycopg's own; as it does of U+0000, the text is not repeated
        raise Fatal("database: a text has half of a surrogate pair, which no text in PostgreSQL may have") from None
    except (psycopg.Error, DBAPIError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        message = f"database: {_words(cause)}"
        if isinstance(cause, psycopg.errors.InvalidPassword | psycopg.errors.InvalidAuthorizationSpecification):
            raise Fatal(message) from None
        if isinstance(cause, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
            raise Fatal(f"{message}\nthe tables do not match this release: run `monitor migrate`") from None
        state = (cause.sqlstate if isinstance(cause, psycopg.Error) else None) or ""
        passing = isinstance(cause, _PASSING) or isinstance(error, OperationalError) or state == _TRANSACTION_TIMEOUT
        if passing and not state.startswith(_TOO_LARGE):
            raise Retriable(message) from error
        raise Fatal(message) from error


def _words(cause: BaseException | None) -> str:
    """What the server says, without its details and context, which quote rows; of a value that it refuses, the kind."""
    if not isinstance(cause, psycopg.Error) or cause.diag.message_primary is None:
        return str(cause).strip()
    said, hint = cause.diag.message_primary, cause.diag.message_hint
    if isinstance(cause, psycopg.DataError):
        said = said.partition(":")[0]
    return f"{said} ({hint})" if hint else said


@contextmanager
def bounded(engine: Engine) -> Iterator[Connection]:
    """A transaction in which each statement may take 10 s, and wait 5 s for a lock.

    Raises:
        Retriable, Fatal: as in `retriable`; a statement that takes longer means a busy database.
    """
    with retriable(), engine.begin() as connection:
        connection.execute(_BOUNDS)
        yield connection


HALTED = 15.0  # seconds that a transaction may wait for its client; a batch takes a fraction of that
_END = """
    SELECT a.pid, pg_terminate_backend(a.pid) FROM pg_stat_activity a
    WHERE a.datname = current_database() AND a.usename = current_user AND a.wait_event = 'ClientRead'
      AND a.xact_start < clock_timestamp() - make_interval(secs => %s)
      AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted
                  AND l.relation = 'consumer_offset'::regclass AND l.mode = 'RowExclusiveLock')
"""


def end_halted(connection: psycopg.Connection) -> None:
    """Ends sessions of other processes that hold offsets and have waited `HALTED` seconds for their client.

    No time limit of the server ends a COPY that waits for its client, so whoever waits for the locked rows ends it. The
    batch of such a session was not stored; if its process goes on after all, it finds its connection gone and reads
    again.
    """
    with connection.transaction():
        ended = connection.execute(_END, (HALTED,)).fetchall()
    for pid, _ in ended:
        log.warning("database session %d waited for a halted reader and was ended", pid)


# The planner overestimates wide rows: compiling, or starting workers, would take longer than the statement itself.
_LIMITED = (
    "SET LOCAL statement_timeout = '{limit}ms'; SET LOCAL lock_timeout = '1s'; SET LOCAL jit = off; "
    "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_seqscan = off"
)


class TakesTooLong(Retriable):
    """The read would take longer than a person waits; the message says what to narrow."""


@contextmanager
def limited_read(engine: Engine, narrow: str, *, milliseconds: int = 1_000) -> Iterator[Connection]:
    """A read-only transaction in which each statement may take so many `milliseconds`.

    `narrow` is the advice in the error message: what to ask less of.

    Raises:
        TakesTooLong: a statement took longer.
        Retriable, Fatal: as in `retriable`.
    """
    with retriable(), engine.connect() as opened:
        connection = opened.execution_options(postgresql_readonly=True)
        connection.execute(text(_LIMITED.format(limit=milliseconds)))
        try:
            yield connection
        except DBAPIError as error:
            if isinstance(error.orig, psycopg.errors.QueryCanceled):
                raise TakesTooLong(f"this would take too long: {narrow}") from None
            raise


@contextmanager
def advisory_lock(engine: Engine, number: int) -> Iterator[bool]:
    """Tries to hold the advisory lock of that number for the block; yields whether it does.

    The lock is free when the block has ended. It belongs to the session: it is free too as soon as this process is
    gone, and some 25 s after its host vanishes, which the server learns from keepalives. A proxy in between answers
    these itself, and its own time limits count.
    """
    with retriable():
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    try:
        with retriable():
            connection.execute(text(SIGNS_OF_LIFE))
            ours = bool(connection.scalar(select(func.pg_try_advisory_lock(number))))
        yield ours
    finally:
        with suppress(Retriable, Fatal), retriable():  # the end of a session alone would free it a moment later
            connection.execute(select(func.pg_advisory_unlock_all()))
        connection.invalidate()  # closes the session, and the lock with it if it could not be freed
        connection.close()


def copy_rows(
    connection: psycopg.Connection, table: str, columns: Sequence[str], rows: Iterable[tuple[object, ...]]
) -> None:
    """Copies `rows` into `table`; their values are in the order of `columns`."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(table), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)
