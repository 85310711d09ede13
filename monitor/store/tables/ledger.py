"""The tables of the ledger: what became of the messages of each partition, and those that are dead letters."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, DateTime, Identity, Index, Integer, LargeBinary, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from monitor.core.message import Skip
from monitor.store.tables.interactions import metadata

# The outcomes of a partition's messages; then how many offsets its reader passed, and why some held no message; and how
# many of its dead letters were purged, and how many interactions count as assessed though that was called off.
LEDGER = (
    *("received", "assessed", "duplicate", "dead", "pending", "unscored"),
    *("spanned", *(skip.value for skip in Skip)),
    *("purged", "called_off"),
)

_time = DateTime(timezone=True)

consumer_offset = Table(
    "consumer_offset",
    metadata,
    Column("group_id", Text, primary_key=True),
    Column("topic", Text, primary_key=True),  # for a file its path, "#", its inode and the hash of its first line
    Column("partition", Integer, primary_key=True),
    Column("next_offset", BigInteger, nullable=False),
    *(Column(name, BigInteger, nullable=False, server_default=text("0")) for name in LEDGER),
    # of Kafka; a new id means a new topic of the same name
    Column("topic_id", Text, nullable=False, server_default=text("''")),
    Column("live", Boolean, nullable=False, server_default=text("true")),  # false: of a rescore
    Column("profile_hash", Text, nullable=False, server_default=text("''")),  # of a rescore
)

dead_letter = Table(
    "dead_letter",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("topic", Text, nullable=False),
    Column("partition", Integer, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("received_at", _time, nullable=False),
    Column("key", LargeBinary),
    Column("header_names", ARRAY(Text), nullable=False),
    Column("header_values", ARRAY(LargeBinary), nullable=False),
    Column("value", LargeBinary, nullable=False),
    Column("size", BigInteger, nullable=False),  # greater than length(value) where the source cut a long message
    Column("digest", LargeBinary, nullable=False),  # sha256 of value: a file replayed again adds no second row
    Column("path", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("group_id", Text, nullable=False, server_default=text("''")),  # whose ledger counts it; '': no ledger does
    Column("settled_at", _time),  # when a retry turned it into an interaction
    Column("outcome", Text),  # whether that was `assessed` or a `duplicate`
    Index("dead_letter_once", "topic", "partition", "position", "digest", unique=True),
)
