"""The table of frozen references: what scores were usual for an app in a period that people chose."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, DateTime, Integer, Table, Text
from sqlalchemy.dialects.postgresql import ARRAY, REAL

from monitor.store.tables.interactions import metadata

_time = DateTime(timezone=True)

reference = Table(
    "reference",
    metadata,
    Column("app", Text, primary_key=True),
    Column("model", Text, primary_key=True),  # '' for answers that name none
    Column("version", Integer, primary_key=True, autoincrement=False),  # of app and model: 1, 2, 3, …
    Column("topic", Text, primary_key=True),  # '': of all topics
    Column("hash", Text, nullable=False, unique=True),  # the first digits of sha256
    Column("sha256", Text, nullable=False),  # see `monitor.store.reference.frozen`
    Column("since", _time, nullable=False),  # of the answers of [since, until)
    Column("until", _time, nullable=False),
    Column("frozen_at", _time, nullable=False),
    Column("frozen_by", Text, nullable=False),
    Column("profile_hash", Text, nullable=False),
    Column("embedding_model", Text, nullable=False),
    Column("answers", BigInteger, nullable=False),  # assessed in the period, of all models and topics of the app
    Column("drawn", BigInteger, nullable=False),  # of these that were read at random and are of model and topic
    Column("labelled", BigInteger, nullable=False),  # drawn and left out: people say that they are self-generated
    Column("repeated", BigInteger, nullable=False),  # drawn and left out: word for word as another
    Column("other_profile", BigInteger, nullable=False),  # drawn and left out: assessed under another profile
    Column("scores", ARRAY(REAL), nullable=False),  # ascending
)
