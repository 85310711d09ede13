"""Tracks a consumer's partitions: which it reads, how far, and which offsets are in flight to the store.

This part decides what may be stored. It uses no Kafka, so it can be tested without a broker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import Condition

from monitor.core.message import Offset, Partition, Skip


@dataclass(slots=True, kw_only=True)
class _ReadPartition:
    """A partition that is read. The counts are since the last `advance`."""

    expected: int | None  # the stored offset, once the batches in flight are stored
    begin: int  # where reading started after the last `advance`
    next: int
    end: int | None  # where reading ends
    pinned: bool  # whether the store has an offset, or soon will
    topic_id: str
    received: int = 0
    skipped: Counter[Skip] = field(default_factory=Counter)
    arrived: datetime | None = None  # of the latest message

    @property
    def moved(self) -> bool:
        return self.next != self.begin or not self.pinned


class Assignment:
    """The partitions of a consumer. Threads may share it: one reads, one stores, one assigns and revokes.

    An assigned partition waits until it is placed at an offset. It is not placed while offsets of it are in flight to
    the store, since the stored offset says where to continue only afterwards.
    """

    def __init__(self) -> None:
        self._places: dict[Partition, _ReadPartition | None] = {}
        self._flying: Counter[Partition] = Counter()
        self._in_hand: tuple[Offset, ...] = ()  # of the last `advance`, not handed over yet
        self._landed: dict[Partition, int] = {}
        self._condition = Condition()

    def assign(self, partitions: Iterable[Partition]) -> None:
        """The partitions are ours now, and wait to be placed."""
        with self._condition:
            self._places.update(dict.fromkeys(partitions))

    def revoke(self, partitions: Iterable[Partition]) -> None:
        """The partitions are not ours any more; drops what was read of them since the last `advance`."""
        with self._condition:
            for partition in partitions:
                self._places.pop(partition, None)
                self._landed.pop(partition, None)

    def replace(self, partitions: Iterable[Partition]) -> None:
        """The partitions wait to be placed again: the last messages did not follow the stored offset."""
        with self._condition:
            self._places.update(dict.fromkeys(self._places.keys() & set(partitions)))

    def of_other_topics(self, topic_id: Callable[[str], str]) -> list[Partition]:
        """Partitions whose topic has another id by now, since it was deleted and created again."""
        with self._condition:
            return [
                partition
                for partition, place in self._places.items()
                if place is not None and place.topic_id and topic_id(partition[0]) not in {"", place.topic_id}
            ]

    def waiting(self) -> list[Partition]:
        """The partitions that can be placed now, in order."""
        with self._condition:
            return sorted(p for p, place in self._places.items() if place is None and not self._flying[p])

    def place(
        self,
        partition: Partition,
        *,
        stored: int | None,
        begin: int,
        at: int,
        expired: int = 0,
        end: int | None = None,
        topic_id: str = "",
    ) -> None:
        """Reads `partition` from `at` on, up to `end` if given.

        `begin` is where counting starts: `at`, minus the number of `expired` offsets.
        """
        with self._condition:
            if partition in self._places:
                self._places[partition] = _ReadPartition(
                    expected=stored,
                    begin=begin,
                    next=at,
                    end=end,
                    pinned=stored == begin,
                    topic_id=topic_id,
                    skipped=Counter({Skip.EXPIRED: expired}),
                )

    def reading(self) -> list[Partition]:
        """The partitions that are placed and not at their end."""
        with self._condition:
            return [p for p, place in self._places.items() if place is not None and place.next != place.end]

    @property
    def finished(self) -> bool:
        """Whether every partition has reached its end, and all of it was handed over."""
        with self._condition:
            return all(
                place is not None and place.end is not None and place.next >= place.end and not place.moved
                for place in self._places.values()
            )

    def take(self, partition: Partition, offset: int, *, tombstone: bool = False) -> bool:
        """Records a message; False if it is not for us: not placed, read before, or past the end."""
        with self._condition:
            place = self._places.get(partition)
            if place is None or offset < place.next:
                return False
            if place.end is not None and offset >= place.end:
                self._reach(place, place.end)
                return False
            self._reach(place, offset)
            place.next = offset + 1
            if tombstone:
                place.skipped[Skip.TOMBSTONE] += 1
            else:
                place.received += 1
            return not tombstone

    def skip(self, partition: Partition, to: int, why: Skip) -> None:
        """Moves past offsets before `to` whose messages cannot be read."""
        with self._condition:
            place = self._places.get(partition)
            if place is not None:
                self._reach(place, to if place.end is None else min(to, place.end), why)

    def arrived(self, messages: Iterable[tuple[Partition, datetime]]) -> None:
        """Records when the messages taken last arrived."""
        with self._condition:
            for partition, at in messages:
                place = self._places.get(partition)
                if place is not None:
                    place.arrived = at if place.arrived is None else max(place.arrived, at)

    def reach(self, positions: Mapping[Partition, int]) -> None:
        """Records where the client will continue: the offsets before that gave no message."""
        with self._condition:
            for partition, position in positions.items():
                place = self._places.get(partition)
                if place is not None:
                    self._reach(place, position if place.end is None else min(position, place.end))

    def _reach(self, place: _ReadPartition, offset: int, why: Skip = Skip.CONTROL) -> None:
        if offset > place.next:
            place.skipped[why] += offset - place.next
            place.next = offset

    def advance(self) -> tuple[tuple[Offset, ...], frozenset[Partition]]:
        """The offsets read since the last call, which are in flight from now on, and the placed partitions.

        A message of a partition that is not placed must be dropped: the store would not know its offset.
        """
        with self._condition:
            offsets = []
            for (topic, number), place in self._places.items():
                if place is None or not place.moved:
                    continue
                skipped = {skip: n for skip, n in place.skipped.items() if n}
                offsets.append(
                    Offset(
                        topic=topic,
                        partition=number,
                        expected=place.expected,
                        next=place.next,
                        begin=place.begin,
                        received=place.received,
                        skipped=skipped,
                        topic_id=place.topic_id,
                        arrived=place.arrived,
                    )
                )
                place.expected = place.begin = place.next
                place.pinned, place.received, place.skipped, place.arrived = True, 0, Counter(), None
                self._flying[topic, number] += 1
            self._in_hand = tuple(offsets)
            return self._in_hand, frozenset(p for p, place in self._places.items() if place is not None)

    def handed_on(self) -> None:
        """The offsets of the last `advance` were handed over."""
        with self._condition:
            self._in_hand = ()

    def stored(self, offsets: Iterable[Offset]) -> None:
        """The offsets are stored."""
        with self._condition:
            for o in offsets:
                self._land(o)
                if (o.topic, o.partition) in self._places:
                    self._landed[o.topic, o.partition] = o.next
            self._condition.notify_all()

    def fenced(self, offsets: Sequence[Offset]) -> None:
        """The offsets were rejected, since another process reads the partitions; they are placed again."""
        with self._condition:
            for o in offsets:
                self._land(o)
            self.replace((o.topic, o.partition) for o in offsets)
            self._condition.notify_all()

    def _land(self, o: Offset) -> None:
        self._flying[o.topic, o.partition] -= 1
        self._in_hand = tuple(other for other in self._in_hand if other is not o)

    def landed(self) -> dict[Partition, int]:
        """The offsets stored since the last call, for partitions that are still ours."""
        with self._condition:
            landed, self._landed = self._landed, {}
            return landed

    def wait_landed(self, partitions: Collection[Partition], seconds: float) -> bool:
        """Waits until nothing of `partitions` is in flight, except what the caller itself has not handed over."""

        def none_left() -> bool:
            in_hand = Counter((o.topic, o.partition) for o in self._in_hand)
            return all(self._flying[p] <= in_hand[p] for p in partitions)

        with self._condition:
            return self._condition.wait_for(none_left, seconds)
