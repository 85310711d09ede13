"""The rollup by hour, what arrived by minute, and how far readers are; the rollups by minute are in `interactions`."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Column, DateTime, Double, Integer, Table, Text, text

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Verdict
from monitor.store.tables.interactions import METRICS, metadata
from monitor.store.tables.usage import usage_columns

_time = DateTime(timezone=True)

verdict_hour = Table(
    "verdict_hour",  # the sums of `verdict_minute`
    metadata,
    Column("hour", _time, primary_key=True),
    Column("app", Text, primary_key=True),
    Column("environment", Text, primary_key=True),
    Column("model", Text, primary_key=True),
    Column("topic", Text, primary_key=True),
    Column("total", BigInteger, nullable=False),
    *(Column(verdict.value, BigInteger, nullable=False) for verdict in Verdict),
    *(Column(reason.value, BigInteger, nullable=False) for reason in Reason),
    *(Column(f"{metric}_count", BigInteger, nullable=False) for metric in METRICS),
    *(Column(f"{metric}_sum", Double, nullable=False) for metric in METRICS),
    *(Column(f"{metric}_squares", Double, nullable=False) for metric in METRICS),
    Column("heard", BigInteger, nullable=False, server_default=text("0")),
    *usage_columns(),
    *(Column(diagnosis.value, BigInteger, nullable=False, server_default=text("0")) for diagnosis in Diagnosis),
)

rollup_trim = Table(  # for `monitor.store.interaction.trim`; at most one row
    "rollup_trim",
    metadata,
    Column("until", _time, primary_key=True),  # minutes before may have histograms with empty bins at either end
    Column("through", _time, nullable=False),  # minutes before have none any more
)

ingest_minute = Table(
    "ingest_minute",
    metadata,
    Column("minute", _time, primary_key=True),  # of arrival, by the writer's clock
    Column("source", Text, primary_key=True),  # a Kafka topic, or the path of a file
    Column("received", BigInteger, nullable=False),
    Column("dead", BigInteger, nullable=False),
)

reading = Table(
    "reading",
    metadata,
    Column("group_id", Text, primary_key=True),
    Column("topic", Text, primary_key=True),  # for a file its path
    Column("partition", Integer, primary_key=True),
    Column("through", _time, nullable=False),  # all messages that had arrived by then are stored
    Column("behind", BigInteger, nullable=False),  # unread messages at the last report
    Column("seen_at", _time, nullable=False),
)


def time_of(rollup: Table) -> Column[datetime]:
    """The column of a rollup that says when its row begins: its hour or its minute."""
    return rollup.c.hour if rollup is verdict_hour else rollup.c.minute
