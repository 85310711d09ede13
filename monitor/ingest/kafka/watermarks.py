"""Asks the brokers for the first and last offsets of partitions."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping

from kafka import KafkaConsumer, TopicPartition

from monitor.core.errors import Retriable
from monitor.core.message import Offset
from monitor.ingest.kafka.client import kafka_errors
from monitor.ingest.kafka.start_offset import Log

log = logging.getLogger(__name__)
_LOOK_UP_MS = 2_000
_LOOK_MS = 1_000  # for the ends of logs, which are looked up often


class Logs:
    """Uses `consumer`, on the thread that polls it."""

    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer

    def of(self, partition: TopicPartition) -> Log | None:
        """The log of a partition, None while it has no leader.

        Asks for one partition at a time, since the client silently omits those without a leader.
        """
        try:
            with kafka_errors():
                first = self._consumer.beginning_offsets([partition], timeout_ms=_LOOK_UP_MS)
                last = self._consumer.end_offsets([partition], timeout_ms=_LOOK_UP_MS)
            return Log(first=first[partition], last=last[partition], topic_id=self.topic_id(partition.topic))
        except (Retriable, KeyError) as error:
            place = {"topic": partition.topic, "partition": partition.partition}
            log.warning("%s/%d cannot be read for now: %s", partition.topic, partition.partition, error, extra=place)
            return None

    def ends(self, topics: Iterable[str]) -> list[Offset]:
        """The end of each partition that has a leader, as an offset to start from."""
        partitions = [TopicPartition(topic, n) for topic in topics for n in self._partitions(topic)]
        found = [(partition, self.of(partition)) for partition in partitions]
        return [
            Offset(topic=p.topic, partition=p.partition, expected=None, next=end.last, topic_id=end.topic_id)
            for p, end in found
            if end is not None
        ]

    def last(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The ends of the logs for our isolation level; empty while a partition has no leader."""
        try:
            with kafka_errors():
                found: Mapping[TopicPartition, int] = self._consumer.end_offsets(partitions, timeout_ms=_LOOK_MS)
                return found
        except (Retriable, KeyError) as error:
            log.debug("the ends of the logs are unknown: %s", error)
            return {}

    def topic_id(self, topic: str) -> str:
        """The id that tells a topic from a deleted one of the same name; empty if unknown."""
        found = self._consumer._cluster.topic_id(topic)  # noqa: SLF001  the consumer has no public method for it
        return "" if found is None else str(found)

    def _partitions(self, topic: str) -> Iterable[int]:
        with kafka_errors():
            found: Iterable[int] = self._consumer.partitions_for_topic(topic) or ()
            return found
