"""The tables of alerts, their history, silences and the outbox."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    Interval,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REAL

from monitor.store.tables.interactions import metadata

_time = DateTime(timezone=True)

alert = Table(
    "alert",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    Column("episode", Text, nullable=False),
    Column("rule", Text, nullable=False),
    Column("rule_digest", Text, nullable=False),
    Column("signal", Text, nullable=False),
    Column("labels", JSONB, nullable=False),
    Column("severity", Text, nullable=False),
    Column("threshold", Double, nullable=False),  # called `bound` in the code
    Column("window", Interval, nullable=False),
    Column("annotations", JSONB, nullable=False),
    Column("receivers", ARRAY(Text), nullable=False),
    Column("state", Text, nullable=False),
    Column("active_since", _time, nullable=False),
    Column("fired_at", _time),
    Column("resolved_at", _time),
    Column("value", Double),
    Column("samples", BigInteger, nullable=False),
    Column("lower", Double, nullable=False),
    Column("upper", Double, nullable=False),
    Column("method", Text, nullable=False, server_default=text("'threshold'")),
    Column("unit", Text, nullable=False, server_default=text("'share'")),
    Column("below", Boolean, nullable=False, server_default=text("false")),
    Column("normal_since", _time),
    Column("acknowledged_by", Text),
    Column("acknowledged_at", _time),
    Column("detail", Text),
    Column("note", Text),
    Column("selector", JSONB(none_as_null=True)),
    Column("by", ARRAY(Text)),
    Column("quiet_since", _time),
)

alert_event = Table(
    "alert_event",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("episode", Text, nullable=False),
    Column("at", _time, nullable=False),
    Column("from_state", Text, nullable=False),
    Column("to_state", Text, nullable=False),
    Column("value", Double),
    Column("samples", BigInteger, nullable=False),
    Column("lower", Double, nullable=False),
    Column("upper", Double, nullable=False),
    Column("note", Text),
    Index("alert_event_by_alert", "fingerprint", "at"),
)

rule_state = Table(
    "rule_state",
    metadata,
    Column("rule_digest", Text, primary_key=True),
    Column("rule", Text, nullable=False),
    Column("evaluated_at", _time, nullable=False),
    Column("until", _time),  # of the last evaluation that saw complete windows
    Column("learnt_at", _time),
    Column("place", BigInteger),  # of the last new answer that the rule has read
    Column("stale_since", _time),
    Column("error", Text),
    Column("error_since", _time),
)

watched_day = Table(
    "watched_day",  # the days (UTC) on which a rule was evaluated
    metadata,
    Column("day", Date, primary_key=True),
)

alert_memory = Table(
    "alert_memory",
    metadata,
    Column("fingerprint", Text, primary_key=True),
    Column("rule_digest", Text, nullable=False),
    Column("labels", JSONB, nullable=False),
    Column("seen_at", _time, nullable=False),
    Column("memory", JSONB),
    Column("baseline", JSONB),
    Index("alert_memory_by_rule", "rule_digest"),
)

new_answer = Table(
    "new_answer",  # answers that rules on ranks have still to read, and those of the days before
    metadata,
    Column("number", BigInteger, Identity(always=True), primary_key=True),
    Column("place", BigInteger),  # the same for all answers of a conversation; null while they are collected
    Column("listed_at", _time, nullable=False),
    Column("app", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("occurred_at", _time, nullable=False),
    Column("environment", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("topic", Text, nullable=False),
    Column("conversation", BigInteger),  # a hash
    Column("same", BigInteger, nullable=False),  # a hash of what makes two answers repetitions
    Column("score", REAL, nullable=False),
    Column("refusal", Boolean, nullable=False),
    Column("sdq", REAL),
    Column("qrd", REAL),
    Index("new_answer_once", "same", unique=True),
    Index("new_answer_by_place", "place", postgresql_where=text("place IS NOT NULL")),
    Index("new_answer_by_conversation", "conversation", postgresql_where=text("conversation IS NOT NULL")),
    Index("new_answer_waiting", "listed_at", postgresql_where=text("place IS NULL")),
)

new_answer_progress = Table(
    "new_answer_progress",  # one row: what was listed last, and before what time of storing nothing is listed
    metadata,
    Column("single", Boolean, primary_key=True, server_default=text("true")),
    Column("transaction_id", BigInteger, nullable=False),
    Column("app", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("since", _time, nullable=False),
)

alert_group = Table(
    "alert_group",
    metadata,
    Column("receiver", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("labels", JSONB, nullable=False),
    Column("episode", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("told_at", _time, nullable=False),
    Column("paged_at", _time, nullable=False),
    Column("said", JSONB, nullable=False),
    Column("description", JSONB),
)

notification = Table(
    "notification",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("receiver", Text, nullable=False),
    Column("group_key", Text, nullable=False),
    Column("episode", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("news", Text, nullable=False),
    Column("made_at", _time, nullable=False),
    Column("payload", JSONB, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("attempted_at", _time),
    Column("retry_at", _time),
    Column("last_error", Text),
    Column("delivered_at", _time),
    Column("given_up", Boolean, nullable=False, server_default=text("false")),
    Column("receipt", JSONB(none_as_null=True)),
    Index("notification_once", "episode", "receiver", "number", unique=True),
    Index("notification_open", "receiver", "given_up", "id", postgresql_where=text("delivered_at IS NULL")),
    Index("notification_receipt", "episode", "receiver", "number", postgresql_where=text("receipt IS NOT NULL")),
)

silence = Table(
    "silence",
    metadata,
    Column("id", Text, primary_key=True),
    Column("matchers", ARRAY(Text), nullable=False),
    Column("starts_at", _time, nullable=False),
    Column("ends_at", _time, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("comment", Text, nullable=False),
    Index("silence_by_end", "ends_at"),
)

alert_action = Table(
    "alert_action",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("at", _time, nullable=False),
    Column("by", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("fingerprint", Text),
    Column("episode", Text),
    Column("silence_id", Text),
    Column("comment", Text, nullable=False),
    Index("alert_action_by_alert", "fingerprint", "at"),
)

alert_explanation = Table(
    "alert_explanation",
    metadata,
    Column("episode", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("made_at", _time, nullable=False),
    Column("explanation", JSONB, nullable=False),
)

# used by the previous release, which may still run beside this one
outbox = Table(
    "outbox",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("episode", Text, nullable=False),
    Column("receiver", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("payload", JSONB, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("retry_at", _time),
    Column("last_error", Text),
    Column("delivered_at", _time),
    Column("given_up", Boolean, nullable=False),
    Column("receipt", JSONB),
    Index("outbox_once", "episode", "receiver", "status", unique=True),
    Index("outbox_waiting", "id", postgresql_where=text("delivered_at IS NULL AND NOT given_up")),
)
