"""Runs migrations on the connection that `monitor migrate` opens, or on MONITOR_DATABASE_URL for the alembic command.

An advisory lock lets one process migrate at a time; the timeouts let a blocked migration fail
instead of queueing every reader behind it.
"""

from __future__ import annotations

import os

from alembic import context
from sqlalchemy import Connection, create_engine, text

import monitor.store.tables.alerts  # these register their tables in the metadata
import monitor.store.tables.audit
import monitor.store.tables.collect
import monitor.store.tables.ledger
import monitor.store.tables.privacy
import monitor.store.tables.reference
import monitor.store.tables.review
import monitor.store.tables.rules
import monitor.store.tables.signals  # noqa: F401
from monitor.store.tables.interactions import metadata

MIGRATION_LOCK = 7_305_101  # any number that nothing else in the database uses
LOCK_TIMEOUT = "5s"
STATEMENT_TIMEOUT = "10min"


def _migrate(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=metadata, transaction_per_migration=False)
    with context.begin_transaction():
        # waits without a limit: another process is migrating and will finish
        connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})"))
        connection.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
        connection.execute(text(f"SET LOCAL statement_timeout = '{STATEMENT_TIMEOUT}'"))
        context.run_migrations()


given: Connection | None = context.config.attributes.get("connection")
if given is not None:
    _migrate(given)
else:
    url = os.environ["MONITOR_DATABASE_URL"].split("://", 1)[1]
    with create_engine(f"postgresql+psycopg://{url}").begin() as opened:
        _migrate(opened)
