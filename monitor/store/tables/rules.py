"""The table of the versions of the alert rules."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, DateTime, LargeBinary, Table, Text

from monitor.store.tables.interactions import metadata

rules_version = Table(
    "rules_version",
    metadata,
    Column("version", BigInteger, primary_key=True, autoincrement=False),  # 1, 2, 3, …
    Column("source", Text, nullable=False),  # the YAML
    Column("based_on", BigInteger, nullable=False),  # the version before it; 0: the rules that ship
    Column("saved_at", DateTime(timezone=True), nullable=False),
    Column("saved_by", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("mac", LargeBinary, nullable=False),  # see `monitor.store.alert.rules_versions`
)
