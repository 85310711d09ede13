"""The tables of the audit trail, of access tokens and sessions, and of reports."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Identity, Index, Integer, LargeBinary, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from monitor.store.tables.interactions import metadata

_time = DateTime(timezone=True)

audit_queue = Table(
    "audit_queue",
    metadata,
    Column("seq", BigInteger, Identity(always=True), primary_key=True),
    Column("kind", Text, nullable=False),
    Column("app", Text, nullable=False),  # '' where it belongs to no app
    Column("subject", Text, nullable=False),  # the id of the interaction, rule, alert, … that it is about
    Column("part", Text, nullable=False, server_default=text("''")),  # which assessment or judgement of the interaction
    Column("queued_at", _time, nullable=False),
    Column("body", JSONB),  # of an act
    Column("source", Text, nullable=False, server_default=text("''")),  # who numbers the entry
    Column("number", BigInteger, nullable=False, server_default=text("0")),  # 1, 2, 3, … within the source
    Column("records", Text),  # what is to be sealed, one in a line; null: the stored row is read when it is sealed
    Column("mac", LargeBinary),  # null: queued by a release before these columns, or by someone else
    Column("refused", Boolean, nullable=False, server_default=text("false")),  # the sealer's key did not make the mac
    Index("audit_queue_by_subject", "app", "subject"),
)

audit_leaf = Table(
    "audit_leaf",
    metadata,
    Column("index", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("app", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("part", Text, nullable=False),
    Column("sealed_at", _time, nullable=False),
    Column("body", Text, nullable=False),  # RFC 8785; text, because jsonb does not keep the bytes
    Column("hash", LargeBinary, nullable=False),
    Index("audit_leaf_by_subject", "app", "subject", "kind", "part"),
    Index(
        "audit_leaf_acts",
        "index",
        postgresql_where=text("kind NOT IN ('interaction', 'assessment', 'judgement', 'positions')"),
    ),
    Index("audit_leaf_positions", "index", postgresql_where=text("kind = 'positions'")),
)

audit_tile = Table(
    "audit_tile",
    metadata,
    Column("level", Integer, primary_key=True, autoincrement=False),
    Column("index", BigInteger, primary_key=True, autoincrement=False),
    Column("hashes", LargeBinary, nullable=False),  # 256 of them
)

audit_secret = Table(
    "audit_secret",
    metadata,
    Column("app", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("secret", LargeBinary, nullable=False),
)

audit_checkpoint = Table(
    "audit_checkpoint",
    metadata,
    Column("size", BigInteger, primary_key=True, autoincrement=False),
    Column("root", LargeBinary, nullable=False),
    Column("note", Text, nullable=False),
    Column("made_at", _time, nullable=False),
)

audit_stamp = Table(
    "audit_stamp",
    metadata,
    Column("size", BigInteger, primary_key=True, autoincrement=False),  # of the checkpoint
    Column("witness", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("token", LargeBinary, nullable=False),
    Column("obtained_at", _time, nullable=False),
    Column("stamped_at", _time),  # null where the token says no time
    Column("complete", Boolean, nullable=False),
)

api_token = Table(
    "api_token",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("created_at", _time, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("expires_at", _time),
    Column("used_at", _time),
    Column("revoked_at", _time),
    Column("revoked_by", Text),
    Column("app", Text),  # what is sent with the token belongs to this app; null: to the app that it names
)

web_session = Table(
    "web_session",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("subject", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("token_id", Text),
    Column("created_at", _time, nullable=False),
    Column("expires_at", _time, nullable=False),
)

report = Table(
    "report",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("app", Text, primary_key=True),
    Column("period_start", _time, primary_key=True),
    Column("period_end", _time, nullable=False),
    Column("made_at", _time, nullable=False),
    Column("digest", Text, nullable=False),
    Column("content", JSONB, nullable=False),
    Column("sent_at", _time),
)
