"""What waits in the tables of traces and of the inbox, from few rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import Engine, text

from monitor.core.message import Progress
from monitor.store.collect.inbox import OTLP, PARTITION
from monitor.store.database import bounded

_TOTALS = text("""
    SELECT sum(open)::bigint AS open, sum(bytes)::bigint AS bytes, sum(spans)::bigint AS spans,
        sum(repeated)::bigint AS repeated, sum(refused)::bigint AS refused, sum(late)::bigint AS late,
        (SELECT extract(epoch FROM clock_timestamp() - min(due_at)) FROM trace WHERE due_at IS NOT NULL) AS overdue
    FROM trace_count
""")
_WAITING = text("""
    SELECT e.topic, e.next_position, e.next_position - coalesce(o.next_offset, 0) AS behind, (
        SELECT i.received_at FROM inbox i
        WHERE i.topic = e.topic AND i.partition = e.partition AND i.position >= coalesce(o.next_offset, 0)
        ORDER BY i.position LIMIT 1
    ) AS since
    FROM inbox_end e
    LEFT JOIN consumer_offset o ON o.group_id = :group AND o.topic = e.topic AND o.partition = e.partition
    WHERE e.partition = :partition ORDER BY e.topic
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectFigures:
    """Open traces with the bytes of all kept parts; the other counts are totals since the beginning.

    `overdue` is for how many seconds the oldest trace that is due has waited; `waiting` maps a topic of the inbox to
    its unread messages.
    """

    open: int = 0
    bytes: int = 0
    spans: int = 0
    repeated: int = 0
    refused: int = 0
    late: int = 0
    overdue: float = 0.0
    waiting: Mapping[str, int] = field(default_factory=dict)
    progress: tuple[Progress, ...] = ()


def collect_figures(engine: Engine, group: str, now: datetime) -> CollectFigures:
    """The figures, and how far the inbox is read, as the alert rules and the ledger's pages want it.

    Turns of traces that are overdue count as arrived and unread. Topics that nothing was ever appended to are left out.
    May raise `Retriable`.
    """
    with bounded(engine) as connection:
        totals = connection.execute(_TOTALS).mappings().one()
        rows = connection.execute(_WAITING, {"group": group, "partition": PARTITION}).all()
    overdue = max(0.0, float(totals["overdue"] or 0.0))
    progress = []
    for topic, end, behind, since in rows:
        if end:
            through = now if since is None else min(since, now)
            if topic == OTLP:
                through = datetime.fromtimestamp(min(through.timestamp(), now.timestamp() - overdue), now.tzinfo)
            progress.append(Progress(topic=topic, partition=PARTITION, through=through, behind=behind))
    counts = {name: int(totals[name] or 0) for name in ("open", "bytes", "spans", "repeated", "refused", "late")}
    return CollectFigures(
        **counts, overdue=overdue, waiting={p.topic: p.behind for p in progress}, progress=tuple(progress)
    )
