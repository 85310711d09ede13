"""The tables of what retention has removed, as SQLAlchemy sees them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, DateTime, Integer, Table, Text

from monitor.store.tables.interactions import metadata

# Their keys are gone with them: an event of such an app and month would be taken for a new one.
retention_month = Table(
    "retention_month",
    metadata,
    Column("app", Text, primary_key=True),
    Column("month", Date, primary_key=True),
    Column("dropped_at", DateTime(timezone=True), nullable=False),
)

retention_count = Table(
    "retention_count",
    metadata,
    Column("topic", Text, primary_key=True),  # these two: where the messages of the interactions stood
    Column("partition", Integer, primary_key=True),
    Column("interactions", BigInteger, nullable=False),
)
