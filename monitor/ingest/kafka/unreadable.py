"""Handles records that the client cannot decode, such as a wrong checksum or a header name that is not UTF-8."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from datetime import datetime

from kafka import KafkaConsumer, TopicPartition, errors

from monitor.core.errors import Fatal, Retriable
from monitor.core.message import Message, Position

log = logging.getLogger(__name__)
_TRIES = 3  # the bytes may have been damaged in transit


class Unreadable:
    """Recognises such records, has them fetched again a few times, and then makes them dead letters."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._tries: Counter[tuple[TopicPartition, int]] = Counter()

    def found(self, consumer: KafkaConsumer, error: Exception) -> tuple[TopicPartition, Message] | None:
        """The record at which a poll failed, as a message without a value; None if it failed for another reason.

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
        name = f"{partition.topic}/{partition.partition}"
        self._tries[partition, offset] += 1
        if self._tries[partition, offset] < _TRIES:
            raise Retriable(f"{name}: the record at offset {offset} cannot be decoded: {cause}") from error
        del self._tries[partition, offset]
        log.error("%s: the record at offset %d cannot be decoded and is skipped: %s", name, offset, cause)
        consumer.seek(partition, offset + 1)
        return partition, Message(
            value=b"",
            position=Position(topic=partition.topic, partition=partition.partition, offset=offset),
            received_at=self._now(),
            size=0,
            unreadable=f"cannot be decoded by the Kafka client, so only the topic has its bytes: {cause}",
        )
