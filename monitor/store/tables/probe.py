"""The tables of golden sets, and of the runs of probes with them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from monitor.store.tables.interactions import metadata

_time = DateTime(timezone=True)
_DONE, _ENDED = (text(f"{states} AND NOT candidate") for states in ("state = 'done'", "state IN ('done', 'failed')"))

golden_set = Table(
    "golden_set",
    metadata,
    Column("name", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),  # of the name: 1, 2, 3, …
    Column("hash", Text, nullable=False),  # see `monitor.probe.golden`
    Column("items", Integer, nullable=False),
    Column("made_by", Text, nullable=False),
    Column("made_at", _time, nullable=False),
)

golden_item = Table(
    "golden_item",
    metadata,
    Column("name", Text, primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),  # from 0
    Column("id", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("reference", Text, nullable=False),
    Column("tags", JSONB, nullable=False),
    Column("source_app", Text),  # these two: the interaction that it was made of
    Column("source_id", Text),
    Column("secret", LargeBinary),  # of `committed`; see `monitor.store.probe.proof`
    Column("committed", Text),
    Column("erased", Boolean, nullable=False, server_default=text("false")),  # its texts are gone
    Index("golden_item_by_source", "source_app", "source_id", postgresql_where=text("source_id IS NOT NULL")),
)

probe_run = Table(
    "probe_run",
    metadata,
    Column("number", BigInteger, Identity(always=True), primary_key=True),
    Column("mark", Text, nullable=False, unique=True),  # random; the conversations of the run carry it
    Column("probe", Text, nullable=False),
    Column("app", Text, nullable=False),
    Column("environment", Text, nullable=False),
    Column("chatbot", Text, nullable=False),  # its version; '': unknown
    Column("golden", Text, nullable=False),
    Column("golden_version", Integer, nullable=False),
    Column("golden_hash", Text, nullable=False),
    Column("items", Integer, nullable=False),
    Column("target", Text, nullable=False),
    Column("judge", Text, nullable=False),
    Column("prompts_hash", Text, nullable=False),  # of the table `prompt`
    Column("repeats", Integer, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("began_at", _time, nullable=False),
    Column("ended_at", _time),
    Column("error", Text),
    Column("candidate", Boolean, nullable=False, server_default=text("false")),
    Index("probe_run_by_probe", "probe", "number"),
    Index("probe_run_deployed", "probe", "number", postgresql_where=_DONE),
    Index("probe_run_ended", "probe", "number", postgresql_where=_ENDED),
    Index("probe_run_by_app", "app", "began_at"),
)

probe_result = Table(
    "probe_result",
    metadata,
    Column("run", BigInteger, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),  # of the item in its set
    Column("item", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("correctness", Double),
    Column("wscore", Double),
    Column("lscore", Integer),
    Column("mscore", Double),
    Column("spread", Integer, nullable=False),
    Column("seconds", Double, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("cost", Double),
    Column("secret", LargeBinary),  # of `committed`; gone with the texts
    Column("committed", Text),  # to the texts of the turns
)

probe_turn = Table(
    "probe_turn",
    metadata,
    Column("run", BigInteger, primary_key=True, autoincrement=False),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("turn", Integer, primary_key=True, autoincrement=False),  # from 0
    Column("question", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("documents", JSONB, nullable=False),  # texts
    Column("composed", Text),
    Column("scores", ARRAY(Integer), nullable=False),  # of the single judgings; empty: not graded
    Column("feedback", Text, nullable=False),
    Column("reason", Text),  # why there is no grade
    Column("failure", Text),  # why there is no answer
    Column("latency_ms", Double),
    Column("leaks", ARRAY(Text), nullable=False),
)
