"""How to reach Postgres: one URL for SQLAlchemy and for psycopg, the migrations, and what an error means."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import DBAPIError, OperationalError

from monitor.errors import Fatal, OutOfReach, Retriable, WrongSettings

OLDEST_SERVER = 150_000  # PostgreSQL 15
_PACKAGE = Path(__file__).resolve().parent.parent


def plain_url(url: str) -> str:
    """The form libpq reads, whatever driver the URL names.

    Raises:
        WrongSettings: it is no PostgreSQL URL.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.partition("+")[0] not in {"postgres", "postgresql"}:
        raise WrongSettings("MONITOR_DATABASE_URL: expected postgresql://user:password@host:port/database")
    return f"postgresql://{rest}"


def connect(url: str) -> Engine:
    """An engine for `url`; opens no connection yet."""
    return create_engine(
        plain_url(url).replace("postgresql://", "postgresql+psycopg://", 1),
        pool_pre_ping=True,
        connect_args={"connect_timeout": 10, "options": "-c timezone=UTC"},
    )


@contextmanager
def retriable() -> Iterator[None]:
    """Turns a lost or busy database into `Retriable`, and one that refuses for good into `Fatal`.

    Deadlocks and serialisation failures count as busy: the same transaction may succeed when tried again.
    """
    try:
        yield
    except (psycopg.Error, DBAPIError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        message = f"database: {str(cause).strip()}"
        if isinstance(cause, psycopg.errors.InvalidPassword | psycopg.errors.InvalidAuthorizationSpecification):
            raise Fatal(message) from None
        if isinstance(cause, psycopg.errors.UndefinedTable | psycopg.errors.UndefinedColumn):
            raise Fatal(f"{message}\nthe tables are not this release's: run `monitor migrate`") from None
        if isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError) or isinstance(error, OperationalError):
            raise Retriable(message) from error
        raise


def _alembic() -> Config:
    """The configuration, from the source tree or, in an installed wheel, from the package."""
    inside = _PACKAGE / "_migrations"
    config = Config()
    config.set_main_option("script_location", str(inside if inside.is_dir() else _PACKAGE.parent / "migrations"))
    return config


def migrate(engine: Engine) -> str:
    """Brings the database to this release's tables and returns the revision. Safe to run from several processes.

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
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            return str(MigrationContext.configure(connection).get_current_revision())
    except OperationalError as error:
        raise OutOfReach(f"database: {str(error.orig).strip()}") from None
    except DBAPIError as error:
        raise Fatal(f"database: {str(error.orig).strip()}") from error


def revisions(engine: Engine) -> tuple[str | None, str]:
    """The database's revision (None before the first migration) and this release's."""
    with retriable(), engine.connect() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    return current, str(ScriptDirectory.from_config(_alembic()).get_current_head())
