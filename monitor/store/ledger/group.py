"""What the database knows of a consumer group: how far it has read, and what for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Engine, select
from sqlalchemy.dialects import postgresql

from monitor.core.errors import WrongSettings
from monitor.core.message import Offset, StoredOffset
from monitor.store.database import retriable
from monitor.store.tables.interactions import consumer_offset

_o = consumer_offset.c


class Group:
    """The `GroupOffsets` port on PostgreSQL; every method may raise `Retriable`."""

    def __init__(self, engine: Engine, group: str) -> None:
        self._engine = engine
        self._group = group

    def stored(self) -> Mapping[tuple[str, int], StoredOffset]:
        """See `GroupOffsets.stored`."""
        query = select(_o.topic, _o.partition, _o.next_offset, _o.topic_id).where(_o.group_id == self._group)
        with retriable(), self._engine.connect() as connection:
            return {
                (topic, partition): StoredOffset(next=reached, topic_id=topic_id)
                for topic, partition, reached, topic_id in connection.execute(query)
            }

    def pin(self, offsets: Sequence[Offset]) -> None:
        """See `GroupOffsets.pin`."""
        rows = [
            {"group_id": self._group, "topic": o.topic, "partition": o.partition, "next_offset": o.next,
             "topic_id": o.topic_id}
            for o in offsets
        ]  # fmt: skip
        if not rows:
            return
        with retriable(), self._engine.begin() as connection:
            connection.execute(postgresql.insert(consumer_offset).values(rows).on_conflict_do_nothing())

    def check(self, *, profile_hash: str = "") -> None:
        """Sees to it that the group is used for one thing only: live verdicts, or a rescore under one profile.

        Raises:
            WrongSettings: it has been used for another.
        """
        query = select(_o.topic, _o.profile_hash).where(_o.group_id == self._group, _o.profile_hash != profile_hash)
        with retriable(), self._engine.connect() as connection:
            other = connection.execute(query.limit(1)).one_or_none()
        if other is not None:
            used = f"a rescore under the profile {other.profile_hash}" if other.profile_hash else "live verdicts"
            raise WrongSettings(f"the group {self._group} was used for {used} of {other.topic}; name another --group")
