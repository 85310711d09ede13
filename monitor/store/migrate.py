"""Migrates the database to the tables of this release, and tells which revision it has."""

from __future__ import annotations

import logging
from pathlib import Path

import psycopg
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, OperationalError

from monitor.core.errors import Fatal, OutOfReach, WrongSettings
from monitor.store.database import retriable

log = logging.getLogger(__name__)

OLDEST_SERVER = 150_000  # PostgreSQL 15
_PACKAGE = Path(__file__).resolve().parent.parent


def _alembic() -> Config:
    """The configuration in the source tree or, in an installed wheel, in the package."""
    inside = _PACKAGE / "_migrations"
    return Config(str((inside if inside.is_dir() else _PACKAGE.parent) / "alembic.ini"))


def migrate(engine: Engine) -> str:
    """Migrates the database to this release's tables and returns the revision. Safe to run from several processes.

    A database that a later release migrated is left as it is: later migrations do not break this release.

    Raises:
        OutOfReach: there is no database at the URL.
        Fatal: the server is too old, or a migration failed and was rolled back.
    """
    config = _alembic()
    try:
        with engine.begin() as connection:
            version = connection.connection.driver_connection.info.server_version  # type: ignore[union-attr]
            if version < OLDEST_SERVER:
                raise Fatal(f"PostgreSQL {version // 10_000} is too old: 15 or later is needed")
            current = MigrationContext.configure(connection).get_current_revision()
            if current is not None and not _known(current):
                log.warning("the database is at revision %s of a later release; it is left as it is", current)
                return current
            config.attributes["connection"] = connection
            command.upgrade(config, "head")
            return str(MigrationContext.configure(connection).get_current_revision())
    except OperationalError as error:
        if isinstance(error.orig, psycopg.errors.DeadlockDetected | psycopg.errors.LockNotAvailable):
            raise Fatal(
                f"database: {str(error.orig).strip()}\nanother process holds a lock there: run `monitor migrate` again"
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
    """The revision of the database, in words.

    Raises:
        Retriable: the database is out of reach.
        Fatal: the database is behind this release.
    """
    current, head = _revision(engine), _head()
    if current is None:
        return f"none yet; the first `replay`, `run` or `migrate` brings it to {head}"
    if current != head:
        return f"at {current}, which a later release made; this one knows up to {head}"
    return f"at {head}"


def has_schema(engine: Engine) -> bool:
    """Whether the tables are there; a database that was never migrated has none.

    Raises:
        Retriable: the database is out of reach.
        Fatal: the database is behind this release.
    """
    return _revision(engine) is not None


def _revision(engine: Engine) -> str | None:
    """The revision of the database: ours, that of a later release, or None before the first migration."""
    with retriable(), engine.connect() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    if current is not None and current != _head() and _known(current):
        raise Fatal(f"the database is at {current}, this release needs {_head()}")
    return current


def _head() -> str | None:
    return ScriptDirectory.from_config(_alembic()).get_current_head()
