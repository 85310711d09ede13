"""The tables of human labels, of offers to label, and of plans that draw answers for a rate."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, DateTime, Identity, Index, Integer, Table, Text
from sqlalchemy.dialects.postgresql import JSONB, REAL

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

review_plan = Table(
    "review_plan",
    metadata,
    Column("number", BigInteger, Identity(always=True), primary_key=True),
    Column("app", Text, nullable=False),
    Column("since", _time, nullable=False),  # the answers of [since, until)
    Column("until", _time, nullable=False),
    Column("draw", Text, nullable=False),
    Column("seed", Text, nullable=False),
    Column("frame", Text, nullable=False),  # SHA-256 of the answers in the order of the draw
    Column("answers", BigInteger, nullable=False),
    Column("parts", JSONB, nullable=False),  # see `monitor.review.rates.plan.Part`
    Column("made_by", Text, nullable=False),
    Column("made_at", _time, nullable=False),
    Index("review_plan_by_period", "app", "since"),
)

review_plan_item = Table(
    "review_plan_item",
    metadata,
    Column("plan", BigInteger, primary_key=True),
    Column("place", Integer, primary_key=True),  # from 0, in the order in which they are to be labelled
    Column("part", Integer, nullable=False),
    Column("app", Text, nullable=False),
    Column("interaction_id", Text, nullable=False),
    Column("occurred_at", _time, nullable=False),
    Index("review_plan_item_by_interaction", "app", "interaction_id"),
)

feedback = Table(
    "feedback",  # of end users: a sample of nobody's choosing, kept apart from labels
    metadata,
    Column("app", Text, primary_key=True),
    Column("interaction_id", Text, primary_key=True),
    Column("thumb", Text, nullable=False),  # `up` or `down`, as given last
    Column("given_at", _time, nullable=False),
    Column("comment", Text),
    Index("feedback_by_time", "app", "given_at"),
)

early_feedback = Table(
    "early_feedback",  # on answers that are not stored yet; for a short time
    metadata,
    Column("app", Text, primary_key=True),
    Column("interaction_id", Text, primary_key=True),
    Column("thumb", Text, nullable=False),
    Column("comment", Text),
    Column("given_at", _time, nullable=False),
    Column("received_at", _time, nullable=False),
    Index("early_feedback_by_time", "received_at"),
)
