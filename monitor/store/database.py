"""How to reach Postgres: one URL for SQLAlchemy and for psycopg, the migrations, and what an error means."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from monitor.core.errors import Fatal, OutOfReach, Retriable, WrongSettings

log = logging.getLogger(__name__)
OLDEST_SERVER = 150_000  # PostgreSQL 15
_PASSING = (
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,
    psycopg.errors.IdleInTransactionSessionTimeout,
)
# For what alert rules read and write: one bad plan or locked row must not keep the other rules from being evaluated.
_BOUNDS = text("SET LOCAL statement_timeout = '10s'; SET LOCAL lock_timeout = '5s'")
_PACKAGE = Path(__file__).resolve().parent.parent


def plain_url(url: str) -> str:
    """The form libpq reads, whatever driver the URL names.

    Raises:
        WrongSettings: it is no PostgreSQL URL.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.partition("+")[0] not in {"postgres", "postgresql"}:
        raise WrongSettings("MONITOR_DATABASE_URL: expected postgresql://user:password@host:port/database")
    if rest.partition("/")[0].count("@") > 1:  # libpq would take the rest of the password for the host, and print it
        raise WrongSettings("MONITOR_DATABASE_URL: write @ : / # in the password as %40 %3A %2F %23")
    return f"postgresql://{rest}"


def connect(url: str, *, overflow: int = 10) -> Engine:
    """An engine for `url`; opens no connection yet, and no more at a time than 5 and the `overflow`.

    Raises:
        WrongSettings: it is no PostgreSQL URL.
    """
    try:
        return create_engine(
            plain_url(url).replace("postgresql://", "postgresql+psycopg://", 1),
            pool_pre_ping=True,
            max_overflow=overflow,
            connect_args={"connect_timeout": 10, "tcp_user_timeout": 30_000, "options": "-c timezone=UTC"},
        )
    except (ValueError, ArgumentError):
        raise WrongSettings("MONITOR_DATABASE_URL: the host or the port is no such thing") from None


@contextmanager
def retriable() -> Iterator[None]:
    """Turns a lost or busy database into `Retriable`, and one that refuses for good into `Fatal`.

    Deadlocks, serialisation failures and a server that is read-only after a failover count as busy: the same
    transaction may succeed when tried again. Messages hold what the server said, never the values of a statement.
    """
    try:
        yield
    except PoolTimeout:
        raise Retriable("database: all connections of this process are taken") from None
    except (psycopg.Error, DBAPIError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        message = f"database: {str(cause).strip()}"
        if isinstance(cause, psycopg.errors.InvalidPassword | psycopg.errors.InvalidAuthorizationSpecification):
            raise Fatal(message) from None
        if isinstance(cause, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
            raise Fatal(f"{message}\nthe tables are not this release's: run `monitor migrate`") from None
        if isinstance(cause, _PASSING) or isinstance(error, OperationalError):
            raise Retriable(message) from error
        raise Fatal(message) from error


@contextmanager
def bounded(engine: Engine) -> Iterator[Connection]:
    """A transaction whose statements take 10 s at most each, and wait 5 s at most for a lock.

    Raises:
        Retriable, Fatal: as `retriable` does; a statement that took longer is a busy database.
    """
    with retriable(), engine.begin() as connection:
        connection.execute(_BOUNDS)
        yield connection


def _alembic() -> Config:
    """The configuration, from the source tree or, in an installed wheel, from the package."""
    inside = _PACKAGE / "_migrations"
    config = Config()
    config.set_main_option("script_location", str(inside if inside.is_dir() else _PACKAGE.parent / "migrations"))
    return config


def migrate(engine: Engine) -> str:
    """Brings the database to this release's tables and returns the revision. Safe to run from several processes.

    A database that a later release has migrated is left as it is: its migrations do not break this one.

    Raises:
        OutOfReach: there is no database at the URL.
        Fatal: the server is too old, or a migration failed; nothing of it remains then.
    """
    config = _alembic()
    try:
        with engine.begin() as connection:
            version = connection.connection.driver_connection.info.server_version  # type: ignore[union-attr]
            if version < OLDEST_SERVER:
                raise Fatal(f"PostgreSQL {version // 10_000} is too old: 15 or later is needed")
            current = MigrationContext.configure(connection).get_current_revision()
            if current is not None and not _known(current):
                log.warning("the database is at %s, which a later release made; it is left as it is", current)
                return current
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            return str(MigrationContext.configure(connection).get_current_revision())
    except OperationalError as error:
        if isinstance(error.orig, psycopg.errors.DeadlockDetected | psycopg.errors.LockNotAvailable):
            raise Fatal(
                f"database: {str(error.orig).strip()}\nothers are at work there: run `monitor migrate` again"
            ) from None
        raise OutOfReach(f"database: {str(error.orig).strip()}") from None
    except DBAPIError as error:
        raise Fatal(f"database: {str(error.orig).strip()}") from error
    except psycopg.ProgrammingError as error:  # an option in the URL that libpq does not know
        raise WrongSettings(f"MONITOR_DATABASE_URL: {str(error).strip()}") from None


def _known(revision: str) -> bool:
    scripts = ScriptDirectory.from_config(_alembic())
    return revision in {script.revision for script in scripts.walk_revisions()}


def schema_state(engine: Engine) -> str:
    """Where the database stands, in words.

    Raises:
        Retriable: it is out of reach.
        Fatal: it is behind this release.
    """
    with retriable(), engine.connect() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    head = ScriptDirectory.from_config(_alembic()).get_current_head()
    if current is None:
        return f"none yet; the first `replay`, `run` or `migrate` brings it to {head}"
    if not _known(current):
        return f"at {current}, which a later release made; this one knows up to {head}"
    if current != head:
        raise Fatal(f"the database is at {current}, this release needs {head}")
    return f"at {head}"
