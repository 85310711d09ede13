"""Stores how far readers have come, which tells whether the window of an alert is complete."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Engine, case, delete, func, select
from sqlalchemy.dialects import postgresql

from monitor.alert.window import CLOCKS_APART, Count, Counts
from monitor.core.message import Progress
from monitor.store.database import bounded, retriable
from monitor.store.ledger.ledger import Ledger, of_topic, source_of
from monitor.store.tables.signals import reading

FORGOTTEN = timedelta(days=1)  # without news, after which a partition no longer holds up the watermark
MISSED = timedelta(days=30)  # without news, up to which a partition still has a lag
_r = reading.c


class ReadingStore:
    """The progress that live readers report. Safe to use from several threads; may raise `Retriable`.

    A reader that dies leaves its partitions behind, whose lag grows until another reader takes them over. A partition
    without news for `FORGOTTEN` no longer holds up the watermark, but still has a lag for `MISSED`: otherwise an alert
    about it would resolve by itself. `forget` ends both. Where several groups read a partition, the furthest one
    counts. A reader whose clock was ahead moves nothing beyond `now`.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self, group: str, progress: Sequence[Progress], now: datetime) -> None:
        """Stores how far a group has come with the partitions that this process reads.

        `through` never goes back, unless it is of a clock that was ahead, by more than clocks of readers differ: there
        would be no lag until that time.
        """
        if not progress:
            return
        rows = [
            {
                "group_id": group,
                "topic": p.topic,
                "partition": p.partition,
                "through": p.through,
                "behind": p.behind,
                "seen_at": now,
            }
            for p in sorted(progress, key=lambda p: (p.topic, p.partition))
        ]
        insert = postgresql.insert(reading)
        new, ahead = insert.excluded, now + CLOCKS_APART
        upsert = insert.on_conflict_do_update(
            index_elements=["group_id", "topic", "partition"],
            set_={
                "through": case((_r.through > ahead, new.through), else_=func.greatest(_r.through, new.through)),
                "behind": new.behind,
                "seen_at": case((_r.seen_at > ahead, new.seen_at), else_=func.greatest(_r.seen_at, new.seen_at)),
            },
        )
        with retriable(), self._engine.begin() as connection:
            connection.execute(upsert, rows)

    def keep(self, group: str, topics: Sequence[str]) -> None:
        """Forgets topics that a group no longer reads, so that they do not hold up the watermark."""
        gone = (_r.group_id == group) & _r.topic.not_in(topics)
        with retriable(), self._engine.begin() as connection:
            connection.execute(delete(reading).where(gone))

    def forget(self, source: str) -> int:
        """Forgets a topic or file whose reading was ended on purpose, for every group; returns how many rows it had."""
        with retriable(), self._engine.begin() as connection:
            return connection.execute(delete(reading).where(of_topic(_r.topic, source))).rowcount

    def watermark(self, now: datetime) -> datetime | None:
        """The time up to which all arrived messages of every partition are stored; None where nothing is read."""
        return min((through for through, _ in self._partitions(now).values()), default=None)

    def lags(self, now: datetime) -> list[Counts]:
        """The lag of each source in seconds, that of its slowest partition, as a single count."""
        slowest: dict[str, datetime] = {}
        for (topic, _), (through, _) in self._partitions(now, MISSED).items():
            source = source_of(topic)
            slowest[source] = min(through, slowest.get(source, through))
        return _states({source: (now - at).total_seconds() for source, at in slowest.items()})

    def last_seen(self, now: datetime) -> Mapping[str, datetime]:
        """When a reader of each source last reported, of those that have a lag."""
        query = select(_r.topic, func.max(_r.seen_at)).where(_r.seen_at > now - MISSED).group_by(_r.topic)
        with bounded(self._engine) as connection:
            rows = connection.execute(query).all()
        found: dict[str, datetime] = {}
        for topic, seen in rows:
            source = source_of(topic)
            found[source] = max(seen, found.get(source, seen))
        return found

    def unread(self, now: datetime) -> Mapping[str, int]:
        """Unread messages of each source at the last report."""
        found: defaultdict[str, int] = defaultdict(int)
        for (topic, _), (_, behind) in self._partitions(now).items():
            found[source_of(topic)] += behind
        return dict(found)

    def imbalances(self) -> list[Counts]:
        """The number of partitions of each source whose live ledger does not balance, as a single count; no recount."""
        rows, _ = Ledger(self._engine).read()
        found: defaultdict[str, int] = defaultdict(int)
        for row in rows:
            if row.live:
                found[source_of(row.topic)] += not row.balanced
        return _states(found)

    def _partitions(self, now: datetime, kept: timedelta = FORGOTTEN) -> dict[tuple[str, int], tuple[datetime, int]]:
        """The progress of partitions with news within `kept`: the time read through, and the unread messages."""
        known: ColumnElement[bool] = _r.seen_at > now - kept
        query = (
            select(_r.topic, _r.partition, func.least(func.max(_r.through), now), func.min(_r.behind))
            .where(known)
            .group_by(_r.topic, _r.partition)
        )
        with bounded(self._engine) as connection:
            return {(topic, number): (through, behind) for topic, number, through, behind in connection.execute(query)}


def _states(values: Mapping[str, float]) -> list[Counts]:
    return [
        Counts(
            labels={"source": source},
            counts=(Count(total=1, sum=float(value), squares=float(value) ** 2),),
        )
        for source, value in sorted(values.items())
    ]
