"""Handles what the client cannot decode: records with a header name that is not UTF-8, batches that are too large."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from datetime import datetime

from kafka import KafkaConsumer, TopicPartition, errors

from monitor.core.errors import Fatal, Retriable
from monitor.core.message import Message, Position
from monitor.ingest.kafka.bounded import UnreadableBatchError
from monitor.ingest.kafka.partition import named

log = logging.getLogger(__name__)
_TRIES = 3  # the bytes may have been damaged in transit


class Unreadable:
    """Recognises such records and batches, and makes each a dead letter; records are fetched a few times before."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._tries: Counter[tuple[TopicPartition, int]] = Counter()

    def found(self, consumer: KafkaConsumer, error: Exception) -> tuple[TopicPartition, Message, int] | None:
        """Where a poll failed, as a message without a value, and the offset behind it; None if it failed otherwise.

        The client continues behind it.

        Raises:
            Retriable: the record is fetched again first.
        """
        cause = error.__cause__ if isinstance(error, Retriable | Fatal) else error
        if isinstance(cause, errors.KafkaError) and not isinstance(cause, errors.CorruptRecordError):
            return None
        # The client would return to the broken response for ever, and has no public way to drop it.
        part = consumer._fetcher._next_partition_records  # noqa: SLF001
        if not part:
            return None
        partition: TopicPartition = part.topic_partition
        part.drain()
        offset = consumer.position(partition, timeout_ms=0)
        if isinstance(cause, UnreadableBatchError):
            message = self._batch(partition, max(offset, cause.first), cause)
            beyond = cause.last + 1
        else:
            message = self._record(partition, offset, cause, error)
            beyond = offset + 1
        consumer.seek(partition, beyond)
        return partition, message, beyond

    def _batch(self, partition: TopicPartition, first: int, cause: UnreadableBatchError) -> Message:
        offsets = f"{first} to {cause.last}"
        log.error(
            "%s: the record batch at offsets %s %s; it is skipped",
            named([partition]),
            offsets,
            cause.why,
            extra=_place(partition, first),
        )
        raw = {"offsets": offsets, "bytes": str(cause.size), "sha256": cause.sha256}
        return Message(
            value=b"",
            position=Position(topic=partition.topic, partition=partition.partition, offset=first),
            received_at=self._now(),
            headers=tuple((f"monitor.batch.{name}", value.encode()) for name, value in raw.items()),
            size=cause.size,
            unreadable=f"the record batch at offsets {offsets} {cause.why}; it has {cause.size:,} bytes, "
            f"sha256 {cause.sha256}, and only the topic has its messages",
        )

    def _record(self, partition: TopicPartition, offset: int, cause: BaseException | None, error: Exception) -> Message:
        name = named([partition])
        self._tries[partition, offset] += 1
        if self._tries[partition, offset] < _TRIES:
            raise Retriable(f"{name}: the record at offset {offset} cannot be decoded: {cause}") from error
        del self._tries[partition, offset]
        log.error(
            "%s: the record at offset %d cannot be decoded and is skipped: %s",
            name,
            offset,
            cause,
            extra=_place(partition, offset),
        )
        return Message(
            value=b"",
            position=Position(topic=partition.topic, partition=partition.partition, offset=offset),
            received_at=self._now(),
            size=0,
            unreadable=f"cannot be decoded by the Kafka client, so only the topic has its bytes: {cause}",
        )


def _place(partition: TopicPartition, offset: int) -> dict[str, str | int]:
    return {"topic": partition.topic, "partition": partition.partition, "offset": offset}
