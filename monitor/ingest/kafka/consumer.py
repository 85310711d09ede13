"""A consumer group's share of some topics, or a span of them, as a `Source`.

Where to read is asked of the store and never of Kafka: on assignment, and whenever a batch turns out to be somebody
else's. What Kafka is told of our offsets is for tools that show the lag.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from time import monotonic
from typing import Any

from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition, errors
from kafka.structs import MemberState

from monitor.core.errors import Fenced, Retriable
from monitor.core.message import Message, Offset, Partition, Progress
from monitor.core.ports import GroupOffsets
from monitor.core.settings.sections import KafkaSettings
from monitor.ingest.kafka.assignment import Places
from monitor.ingest.kafka.client import kafka_errors, message_of, topics_seen
from monitor.ingest.kafka.rebalance import Listener
from monitor.ingest.kafka.start_offset import Refused, start_of
from monitor.ingest.kafka.unreadable import Unreadable
from monitor.ingest.kafka.watermarks import Logs
from monitor.ingest.progress import Reading

log = logging.getLogger(__name__)

_DRAIN = 3.0  # seconds that a partition which moves away may still take to be stored; later the fence holds it off
_SHORTEST, _REBALANCE = 0.05, 1.0  # seconds of a poll: at least, and while the group is rebalancing
_TELL_ALL, _PLACE_AGAIN = 5.0, 2.0  # seconds
_LOOK = 2.0  # seconds between two looks at the ends of the logs
_CLOSE_MS = 3_000
_FIRST_MESSAGES = 64  # of the first poll, when it is not known yet how large messages are


class KafkaSource:
    """Reads what `consumer` is assigned, each partition from the offset that `group` has for it.

    A partition without one begins at the `auto_offset_reset` of the settings, but one of a topic that is known already
    begins at its beginning: it is new. `bounds` are first offsets and ends of partitions instead; then nothing is
    subscribed, and the input ends where every partition is at its end.
    """

    def __init__(
        self,
        consumer: KafkaConsumer,
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
        self._places = Places()
        self._reading = Reading()
        self._refused: dict[Partition, Refused] = {}
        self._unreadable = Unreadable(now)
        self._logs = Logs(consumer)
        self._place_at = self._look_at = 0.0
        self._offsets: tuple[Offset, ...] = ()
        self._told: dict[Partition, int] = {}
        self._tell_all = monotonic() + _TELL_ALL
        self._mean_size = 0
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
                log.warning("%s: not there yet, so it is waited for", ", ".join(sorted(missing)))

    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        """As the port says; the last messages may go beyond `max_bytes` by a few."""
        if self._later is not None:
            error, self._later = self._later, None
            raise error
        if self._bounds is not None and self._places.finished:
            return None
        self._places.handed_on()
        self._keep_up()
        messages: list[tuple[Partition, Message]] = []
        size, left, until = 0, timeout, monotonic() + timeout
        while len(messages) < max_messages and size < max_bytes:
            most = (max_bytes - size) // self._mean_size if self._mean_size else _FIRST_MESSAGES
            try:
                given = self._fetched(left, min(max(most, 1), max_messages - len(messages)))
            except Exception as error:
                if not messages:
                    raise
                self._later = error  # what was given before goes on first
                break
            messages += given
            size += sum(message.size for _, message in given)
            left = until - monotonic()
            if left < _SHORTEST or (self._bounds is not None and not self._places.reading()):
                break
        if messages:
            self._mean_size = max(size // len(messages), 1)
        else:
            self._reach()
        self._offsets, placed = self._places.advance()
        return [message for partition, message in messages if partition in placed]

    def offsets(self) -> tuple[Offset, ...]:
        """Those of the last poll."""
        offsets, self._offsets = self._offsets, ()
        return offsets

    def hold(self) -> None:
        """Stays in the group, with every partition paused."""
        self._consumer.pause(*self._consumer.assignment())
        with suppress(Retriable):
            self._places.replace(self._polled(_SHORTEST, 1))  # nothing comes; if it did, it would have to be read again
            self._commit()

    def stored(self, offsets: Sequence[Offset]) -> None:
        """They are told to Kafka with the next poll."""
        self._places.stored(offsets)
        self._reading.stored(offsets)

    def progress(self) -> tuple[Progress, ...]:
        """As the port says; a span has none."""
        return () if self._bounds is not None else self._reading.progress()

    def fenced(self, offsets: Sequence[Offset], error: Fenced) -> None:
        """Reads on where the store says, once all that is on its way has come through.

        Raises:
            Fenced: a span is read by one process alone.
        """
        if self._bounds is not None:
            raise Fenced(f"{error}; a group reads a span in one process: stop the other one") from error
        log.warning("%s; it is read again from where the store is", error)
        self._places.fenced(offsets)

    def close(self) -> None:
        """Tells Kafka the last offsets and leaves the group; a static member stays in it until its session ends."""
        self._closing = True
        with suppress(errors.KafkaError):
            if self._bounds is None and (landed := self._places.landed()):
                self._consumer.commit(_committed(landed), timeout_ms=_CLOSE_MS)
        with suppress(errors.KafkaError):
            self._consumer.close(autocommit=False, timeout_ms=_CLOSE_MS)

    # The rebalance listener calls these while the polling thread waits for the client, on that of the heartbeats.

    def assigned(self, partitions: Iterable[Partition]) -> None:
        """New ones are not fetched before they are placed; any position at all keeps the client from asking Kafka."""
        given = [_partition(p) for p in partitions]
        self._consumer.pause(*given)
        for one in given:
            self._consumer.seek(one, 0)
        self._places.assign(given)
        log.info("given to read: %s", _named(given))

    def revoked(self, partitions: set[Partition], *, lost: bool) -> None:
        """Waits a little for what is on its way, so that the next owner goes on behind it and nothing is done twice."""
        self._places.revoke(partitions)
        self._reading.forget(partitions)
        log.info("%s: %s", "taken away" if lost else "given up", _named(partitions))
        if not lost and not self._closing:
            self._places.wait_landed(partitions, _DRAIN)

    def _keep_up(self) -> None:
        self._commit()
        if (waiting := self._places.waiting()) and monotonic() >= self._place_at:
            try:
                done = self._place([_partition(p) for p in waiting])
            except Retriable as error:  # the others are read meanwhile, and the group is kept
                log.warning("%s; asking again where to read in %.0f s", error, _PLACE_AGAIN)
                done = False
            self._place_at = 0.0 if done else monotonic() + _PLACE_AGAIN
        ours = self._consumer.assignment()
        reading = ours & set(map(_partition, self._places.reading()))
        self._consumer.pause(*(ours - reading))
        self._consumer.resume(*reading)
        if self._bounds is None and reading and monotonic() >= self._look_at:
            self._reading.looked(self._now(), self._logs.last(reading))
            self._look_at = monotonic() + _LOOK

    def _commit(self) -> None:
        """Tells Kafka what is stored, now and then all of it: only so does a member learn that another replaced it."""
        if self._bounds is not None:
            return
        landed, ours = self._places.landed(), self._consumer.assignment()
        self._told = {p: reached for p, reached in {**self._told, **landed}.items() if p in ours}
        if monotonic() >= self._tell_all:
            self._tell_all, landed = monotonic() + _TELL_ALL, self._told
            self._places.replace(self._places.of_other_topics(self._logs.topic_id))
        if landed:
            with kafka_errors(), suppress(errors.RetriableError, errors.CommitFailedError):  # the next one will do
                self._consumer.commit_async(_committed(landed), callback=_note_commit)

    def _polled(self, seconds: float, most: int) -> dict[Partition, list[Any]]:
        """What the client gives within `seconds`."""
        if self._bounds is None and (state := self._consumer.group_metadata().state) != MemberState.STABLE:
            seconds = max(seconds, _REBALANCE)
            if state == MemberState.REBALANCING:
                # The client forgets a rebalance that is completed between two polls, and would wait in it for ever.
                self._consumer._coordinator.request_rejoin()  # noqa: SLF001
        polled: dict[Partition, list[Any]] = {}
        with kafka_errors(), self._restarting():
            polled = self._consumer.poll(int(seconds * 1000), max_records=most)
        return polled  # noqa: RET504  the block may end before it returns anything

    def _fetched(self, seconds: float, most: int) -> list[tuple[Partition, Message]]:
        """The messages among that: no tombstones, and none that is not for us."""
        try:
            polled = self._polled(seconds, most)
        except Exception as error:
            unreadable = self._unreadable.found(self._consumer, error)
            if unreadable is None:
                raise
            return [(p, message) for p, message in [unreadable] if self._places.take(p, message.position.offset)]
        now = self._now()
        messages = [
            (partition, message_of(record, now))
            for partition, records in polled.items()
            for record in records
            if self._places.take(partition, record.offset, tombstone=record.value is None)
        ]
        self._places.arrived((partition, min(message.received_at, now)) for partition, message in messages)
        return messages

    def _reach(self) -> None:
        """Where nothing comes, there may still be markers of transactions between us and the end."""
        with suppress(Retriable), kafka_errors(), self._restarting():
            positions = {p: self._consumer.position(_partition(p), timeout_ms=0) for p in self._places.reading()}
            self._places.reach({p: position for p, position in positions.items() if position is not None})

    @contextmanager
    def _restarting(self) -> Iterator[None]:
        """Has partitions placed anew whose log does not go on where we are; the client says so once."""
        try:
            yield
        except errors.OffsetOutOfRangeError as error:
            self._refused.update(dict.fromkeys(error.args[0], Refused()))
            self._places.replace(error.args[0])
        except errors.LogTruncationError as error:
            cuts = error.divergent_offsets.items()
            self._refused.update({p: Refused(cut=None if cut is None else cut.offset) for p, cut in cuts})
            self._places.replace(error.divergent_offsets)

    def _place(self, waiting: Sequence[TopicPartition]) -> bool:
        """Places those whose leader answers; whether these are all.

        Raises:
            Retriable: the store is out of reach for now.
        """
        stored = self._group.stored()
        if self._from_end and (new := {p.topic for p in waiting} - {topic for topic, _ in stored}):
            self._group.pin(self._logs.ends(new))  # so that all members begin there, whichever comes first
            stored = self._group.stored()
        for partition in waiting:
            found = self._logs.of(partition)
            if found is None:
                continue
            start = start_of(
                _named([partition]),
                found,
                stored.get(partition),
                refused=self._refused.pop(partition, None),
                bounds=None if self._bounds is None else self._bounds[partition],
            )
            known = stored.get(partition)
            self._consumer.seek(partition, start.at)
            self._places.place(
                partition,
                stored=None if known is None else known.next,
                begin=start.begin,
                at=start.at,
                expired=start.expired,
                end=None if self._bounds is None else self._bounds[partition][1],
                topic_id=found.topic_id,
            )
            self._reading.placed(partition, start.at)
        return not self._places.waiting()


def _partition(partition: Partition) -> TopicPartition:
    return TopicPartition(*partition)


def _named(partitions: Iterable[Partition]) -> str:
    return ", ".join(f"{topic}/{number}" for topic, number in sorted(partitions))


def _committed(landed: Mapping[Partition, int]) -> dict[TopicPartition, OffsetAndMetadata]:
    return {_partition(p): OffsetAndMetadata(reached, "", -1) for p, reached in landed.items()}


def _note_commit(_: object, answer: object) -> None:
    if isinstance(answer, Exception):
        log.debug("Kafka was not told our offsets, which only lag tools ask for: %s", answer)
