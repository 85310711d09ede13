"""The tables of human labels, and of offers to label."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, DateTime, Identity, Index, Table, Text
from sqlalchemy.dialects.postgresql import REAL

from monitor.store.tables.interactions import metadata

_time = DateTime(timezone=True)

review = Table(
    "review",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),  # the highest id of a person is the newest label
    Column("app", Text, nullable=False),
    Column("interaction_id", Text, nullable=False),
    Column("occurred_at", _time, nullable=False),  # of the interaction
    Column("label", Text, nullable=False),
    Column("labelled_by", Text, nullable=False),
    Column("labelled_at", _time, nullable=False),
    Column("note", Text),
    Column("drawn", Text, nullable=False),  # why it was offered, as known when it was labelled
    Column("verdict", Text, nullable=False),  # this and the rest: the assessment when it was labelled
    Column("rule_verdict", Text, nullable=False),
    Column("profile_hash", Text, nullable=False),
    Column("p_grounded", REAL, nullable=False),
    Column("p_refusal", REAL, nullable=False),
    Column("p_self_generated", REAL, nullable=False),
    Index("review_by_interaction", "app", "interaction_id"),
    Index("review_by_time", "occurred_at"),
)

review_offer = Table(
    "review_offer",
    metadata,
    Column("app", Text, primary_key=True),
    Column("interaction_id", Text, primary_key=True),
    Column("drawn", Text, primary_key=True),  # `random`: part of the random sample, whatever led to its label
    Column("occurred_at", _time, nullable=False),
    Column("offered_to", Text, nullable=False),
    Column("offered_at", _time, nullable=False),
)
