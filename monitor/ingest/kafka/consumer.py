"""Reads a consumer group's share of some topics, or a span of them.

The store, never Kafka, says where to read: on assignment, and after a batch that belonged to another process. Offsets
are committed to Kafka for lag tools only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from time import monotonic
from typing import Any

from kafka import TopicPartition, errors
from kafka.structs import MemberState
from typing_extensions import override

from monitor.core.errors import Fenced, Retriable
from monitor.core.message import Message, Offset, Partition, Progress, Skip
from monitor.core.ports import GroupOffsets, Source
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.assignment import Assignment
from monitor.ingest.kafka.bounded import BoundedConsumer
from monitor.ingest.kafka.client import kafka_errors, message_of, topics_seen
from monitor.ingest.kafka.partition import log_commit, named, offsets_to_commit, topic_partition
from monitor.ingest.kafka.rebalance import Listener
from monitor.ingest.kafka.start_offset import Refused, start_of
from monitor.ingest.kafka.unreadable import Unreadable
from monitor.ingest.kafka.watermarks import Logs
from monitor.ingest.progress import PartitionProgress

log = logging.getLogger(__name__)

_DRAIN = 3.0  # seconds for a revoked partition to be stored; later the fence rejects it
_SHORTEST, _REBALANCE = 0.05, 1.0  # seconds of a poll: at least, and while the group is rebalancing
_COMMIT_ALL, _PLACE_AGAIN, _LOOK = 5.0, 2.0, 2.0  # seconds; the last one between two looks at the ends of the logs
_CLOSE_MS = 3_000


class KafkaSource(Source):
    """Reads the partitions assigned to `consumer`, each from the offset that `group` has for it.

    A partition without an offset starts at `auto_offset_reset` of the settings; a new partition of a known topic starts
    at its first offset. With `bounds`, first offsets and ends of partitions, nothing is subscribed, and the input ends
    when every partition is at its end.
    """

    def __init__(
        self,
        consumer: BoundedConsumer,
        kafka: KafkaSettings,
        *,
        group: GroupOffsets,
        now: Callable[[], datetime],
        bounds: Mapping[Partition, tuple[int, int]] | None = None,
    ) -> None:
        self._consumer = consumer
        self._group = group
        self._now = now
        self._bounds = bounds
        self._from_end = kafka.auto_offset_reset == "latest"
        self._assignment = Assignment()
        self._progress = PartitionProgress()
        self._refused: dict[Partition, Refused] = {}
        self._unreadable = Unreadable(now)
        self._logs = Logs(consumer)
        self._place_at = self._look_at = 0.0
        self._offsets: tuple[Offset, ...] = ()
        self._committed_last: dict[Partition, int] = {}
        self.polled_at = monotonic()  # when the client was last asked for records, by this clock
        self._commit_all_at = self.polled_at + _COMMIT_ALL
        self._later: Exception | None = None
        self._closing = False
        if bounds is not None:
            consumer.assign([TopicPartition(*partition) for partition in bounds])
            self.assigned(bounds)
        elif kafka.topic_pattern is not None:
            consumer.subscribe(pattern=kafka.topic_pattern, listener=Listener(self))
        else:
            consumer.subscribe(topics=kafka.topics, listener=Listener(self))
            if missing := set(kafka.topics) - topics_seen(consumer):
                log.warning("%s: does not exist yet; waiting for it", ", ".join(sorted(missing)))

    @override
    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        """The next messages; the last of them may exceed `max_bytes`."""
        if self._later is not None:
            error, self._later = self._later, None
            raise error
        if self._bounds is not None and self._assignment.finished:
            return None
        self._assignment.handed_on()
        self._keep_up()
        messages: list[tuple[Partition, Message]] = []
        left, until = timeout, monotonic() + timeout
        self._consumer.room = max_bytes
        while len(messages) < max_messages and self._consumer.room > 0:
            try:
                messages += self._fetched(left, max_messages - len(messages))
            except Exception as error:
                if not messages:
                    raise
                self._later = error  # earlier messages go first
                break
            left = until - monotonic()
            if left < _SHORTEST or (self._bounds is not None and not self._assignment.reading()):
                break
        if not messages:
            self._reach()
        self._offsets, placed = self._assignment.advance()
        return [message for partition, message in messages if partition in placed]

    @override
    def offsets(self) -> tuple[Offset, ...]:
        offsets, self._offsets = self._offsets, ()
        return offsets

    @override
    def hold(self) -> None:
        """Stays in the group, with every partition paused."""
        self._consumer.pause(*self._consumer.assignment())
        with suppress(Retriable):
            # nothing comes while paused; anything that did would be read again
            self._assignment.replace(self._polled(_SHORTEST, 1))
            self._commit()

    @override
    def stored(self, offsets: Sequence[Offset]) -> None:
        """The next poll commits the offsets to Kafka."""
        self._assignment.stored(offsets)
        self._progress.stored(offsets)

    @override
    def progress(self) -> tuple[Progress, ...]:
        return () if self._bounds is not None else self._progress.progress()

    @override
    def fenced(self, offsets: Sequence[Offset], error: Fenced) -> None:
        """Continues from the stored offsets, once nothing is in flight.

        Raises:
            Fenced: only one process may read a span.
        """
        if self._bounds is not None:
            raise Fenced(f"{error}; a group reads a span in one process: stop the other one") from error
        log.warning("%s; reading again from the stored offset", error)
        self._assignment.fenced(offsets)

    @override
    def close(self) -> None:
        """Commits the last offsets and leaves the group; a static member stays in it until its session expires."""
        self._closing = True
        with suppress(errors.KafkaError):
            if self._bounds is None and (landed := self._assignment.landed()):
                self._consumer.commit(offsets_to_commit(landed), timeout_ms=_CLOSE_MS)
        with suppress(errors.KafkaError):
            self._consumer.close(autocommit=False, timeout_ms=_CLOSE_MS)

    # The rebalance listener calls the next two on the heartbeat thread, while the polling thread waits for the client.

    def assigned(self, partitions: Iterable[Partition]) -> None:
        """Pauses new partitions until they are placed; any position keeps the client from asking Kafka for one."""
        given = [topic_partition(p) for p in partitions]
        self._consumer.pause(*given)
        for partition in given:
            self._consumer.seek(partition, 0)
        self._assignment.assign(given)
        log.info("assigned: %s", named(given))

    def revoked(self, partitions: set[Partition], *, lost: bool) -> None:
        """Waits briefly for batches in flight, so that the next owner starts after them and repeats nothing."""
        self._assignment.revoke(partitions)
        self._progress.forget(partitions)
        log.info("%s: %s", "lost" if lost else "revoked", named(partitions))
        if not lost and not self._closing:
            self._assignment.wait_landed(partitions, _DRAIN)

    def _keep_up(self) -> None:
        self._commit()
        if (waiting := self._assignment.waiting()) and monotonic() >= self._place_at:
            try:
                done = self._place([topic_partition(p) for p in waiting])
            except Retriable as error:  # other partitions are read meanwhile, and membership is kept
                log.warning("%s; looking up offsets again in %.0f s", error, _PLACE_AGAIN)
                done = False
            self._place_at = 0.0 if done else monotonic() + _PLACE_AGAIN
        ours = self._consumer.assignment()
        reading = ours & set(map(topic_partition, self._assignment.reading()))
        self._consumer.pause(*(ours - reading))
        self._consumer.resume(*reading)
        if self._bounds is None and reading and monotonic() >= self._look_at:
            self._progress.looked(self._now(), self._logs.last(reading))
            self._look_at = monotonic() + _LOOK

    def _commit(self) -> None:
        """Commits stored offsets to Kafka, sometimes all: only so does a member learn that another replaced it."""
        if self._bounds is not None:
            return
        landed, ours = self._assignment.landed(), self._consumer.assignment()
        self._committed_last = {p: reached for p, reached in {**self._committed_last, **landed}.items() if p in ours}
        if monotonic() >= self._commit_all_at:
            self._commit_all_at, landed = monotonic() + _COMMIT_ALL, self._committed_last
            self._assignment.replace(self._assignment.of_other_topics(self._logs.topic_id))
        if landed:
            # the next commit makes up for one that fails
            with kafka_errors(), suppress(errors.RetriableError, errors.CommitFailedError):
                self._consumer.commit_async(offsets_to_commit(landed), callback=log_commit)

    def _polled(self, seconds: float, most: int) -> dict[Partition, list[Any]]:
        """The records that the client returns within `seconds`."""
        self.polled_at = monotonic()
        if self._bounds is None and (state := self._consumer.group_metadata().state) != MemberState.STABLE:
            seconds = max(seconds, _REBALANCE)
            if state == MemberState.REBALANCING:
                # The client misses a rebalance that completes between two polls, and would wait for ever.
                self._consumer._coordinator.request_rejoin()  # noqa: SLF001
        polled: dict[Partition, list[Any]] = {}
        with kafka_errors(), self._restarting():
            polled = self._consumer.poll(int(seconds * 1000), max_records=most)
        return polled  # noqa: RET504  the block may swallow an exception

    def _fetched(self, seconds: float, most: int) -> list[tuple[Partition, Message]]:
        """Polled messages, without tombstones and messages that are not for us."""
        try:
            polled = self._polled(seconds, most)
        except Exception as error:
            unreadable = self._unreadable.found(self._consumer, error)
            if unreadable is None:
                raise
            partition, message, beyond = unreadable
            if not self._assignment.take(partition, message.position.offset):
                return []
            self._assignment.skip(partition, beyond, Skip.UNREADABLE)
            return [(partition, message)]
        now = self._now()
        messages = [
            (partition, message_of(record, now))
            for partition, records in polled.items()
            for record in records
            if self._assignment.take(partition, record.offset, tombstone=record.value is None)
        ]
        self._assignment.arrived((partition, min(message.received_at, now)) for partition, message in messages)
        return messages

    def _reach(self) -> None:
        """Moves past transaction markers, which are no messages, between our offset and the end."""
        with suppress(Retriable), kafka_errors(), self._restarting():
            reading = self._assignment.reading()
            positions = {p: self._consumer.position(topic_partition(p), timeout_ms=0) for p in reading}
            self._assignment.reach({p: position for p, position in positions.items() if position is not None})

    @contextmanager
    def _restarting(self) -> Iterator[None]:
        """Places partitions again whose log does not continue at our offset; the client reports that once."""
        try:
            yield
        except errors.OffsetOutOfRangeError as error:
            self._refused.update(dict.fromkeys(error.args[0], Refused()))
            self._assignment.replace(error.args[0])
        except errors.LogTruncationError as error:
            cuts = error.divergent_offsets.items()
            self._refused.update({p: Refused(cut=None if cut is None else cut.offset) for p, cut in cuts})
            self._assignment.replace(error.divergent_offsets)

    def _place(self, waiting: Sequence[TopicPartition]) -> bool:
        """Places the waiting partitions whose leader answers; returns whether those are all.

        Raises:
            Retriable: the store is out of reach for now.
        """
        stored = self._group.stored()
        if self._from_end and (new := {p.topic for p in waiting} - {topic for topic, _ in stored}):
            self._group.pin(self._logs.ends(new))  # so that all members start there, whichever comes first
            stored = self._group.stored()
        logs = self._logs.of(waiting)
        for partition in self._consumer.assignment() & logs.keys():  # the group may have changed meanwhile
            found = logs[partition]
            start = start_of(
                named([partition]),
                found,
                stored.get(partition),
                refused=self._refused.pop(partition, None),
                bounds=None if self._bounds is None else self._bounds[partition],
            )
            known = stored.get(partition)
            self._consumer.seek(partition, start.at)
            self._assignment.place(
                partition,
                stored=None if known is None else known.next,
                begin=start.begin,
                at=start.at,
                expired=start.expired,
                end=None if self._bounds is None else self._bounds[partition][1],
                topic_id=found.topic_id,
            )
            self._progress.placed(partition, start.at)
        return not self._assignment.waiting()
