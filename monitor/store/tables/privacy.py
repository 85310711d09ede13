"""The tables that record what retention has removed."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Date, DateTime, Integer, Table, Text

from monitor.store.tables.interactions import metadata

# Months whose keys were dropped: without this table their events would pass for new ones.
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
    Column("topic", Text, primary_key=True),  # this and the next: the partition of the interactions' messages
    Column("partition", Integer, primary_key=True),
    Column("interactions", BigInteger, nullable=False),
)
