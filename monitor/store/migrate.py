"""Migrates the database to the tables of this release, and tells which revision it has.

Every command asks for the revision, so this reads it by itself: to import alembic takes a quarter of a command's start.
A migration's file begins with its revision, and revisions rise.
"""

from __future__ import annotations

import logging
from functools import cache
from pathlib import Path

import psycopg
from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError, OperationalError

from monitor.core.errors import Fatal, OutOfReach, WrongSettings
from monitor.store.database import retriable

log = logging.getLogger(__name__)

OLDEST_SERVER = 150_000  # PostgreSQL 15
_GONE = ("08", "57")  # classes of errors: the connection is lost, the server shuts down
_PACKAGE = Path(__file__).resolve().parent.parent


def _root() -> Path:
    """The folder of `alembic.ini` and `migrations`: the source tree, or a folder of the installed package."""
    inside = _PACKAGE / "_migrations"
    return inside if inside.is_dir() else _PACKAGE.parent


@cache
def _revisions() -> tuple[str, ...]:
    """The revisions that this release knows, the first one first."""
    versions = _root() / "migrations" / "versions"
    return tuple(sorted(file.stem.partition("_")[0] for file in versions.glob("[0-9]*_*.py")))


def migrate(engine: Engine) -> str:
    """Migrates the database to this release's tables and returns the revision. Safe to run from several processes.

    A database that a later release migrated is left as it is: later migrations do not break this release.

    Raises:
        OutOfReach: there is no database at the URL.
        Fatal: the server is too old, or a migration failed and was rolled back.
    """
    try:
        with engine.begin() as connection:
            version = connection.connection.driver_connection.info.server_version  # type: ignore[union-attr]
            if version < OLDEST_SERVER:
                raise Fatal(f"PostgreSQL {version // 10_000} is too old: 15 or later is needed")
            current, (*_, head) = _revision_of(connection), _revisions()
            if current is not None and current not in _revisions():
                log.warning("the database is at revision %s of a later release; it is left as it is", current)
                return current
            if current != head:
                _upgrade(connection)
            return head
    except OperationalError as error:
        if isinstance(error.orig, psycopg.errors.DeadlockDetected | psycopg.errors.LockNotAvailable):
            raise Fatal(
                f"database: {str(error.orig).strip()}\nanother process holds a lock there: run `monitor migrate` again"
            ) from None
        said = str(error.orig).strip()
        if _is_answer(error.orig):
            raise Fatal(
                f"database: {said}\nthe tables are as they were: mend that, and run `monitor migrate`"
            ) from None
        raise OutOfReach(
            f"database: {said}\n"
            "check MONITOR_DATABASE_URL if it is set; `monitor doctor` tries all that the settings name"
        ) from None
    except DBAPIError as error:
        raise Fatal(f"database: {str(error.orig).strip()}") from error
    except psycopg.ProgrammingError as error:  # an option in the URL that libpq does not know
        raise WrongSettings(f"MONITOR_DATABASE_URL: {str(error).strip()}") from None


def _is_answer(error: BaseException | None) -> bool:
    """Whether the server refused, such as for a full disk or a statement that took too long; else it went away."""
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    return isinstance(error, psycopg.errors.QueryCanceled) or (state is not None and state[:2] not in _GONE)


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config(str(_root() / "alembic.ini"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def schema_state(engine: Engine) -> str:
    """The revision of the database, in words.

    Raises:
        Retriable: the database is out of reach.
        Fatal: the database is behind this release.
    """
    current, head = _revision(engine), _revisions()[-1]
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
        current = _revision_of(connection)
    if current in _revisions()[:-1]:
        raise Fatal(f"the database is at {current}, this release needs {_revisions()[-1]}")
    return current


def _revision_of(connection: Connection) -> str | None:
    """The revision that alembic has left in the database, if it has."""
    if connection.scalar(text("SELECT to_regclass('alembic_version')")) is None:
        return None
    found: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return found
