"""What the brokers say of the logs of partitions."""

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
_LOOK_MS = 1_000  # for where the logs end, which is asked again and again


class Logs:
    """Asks by way of `consumer`, on the thread that polls it."""

    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer

    def of(self, partition: TopicPartition) -> Log | None:
        """None while it has no leader. Asked one by one: the client leaves out such ones without a word."""
        try:
            with kafka_errors():
                first = self._consumer.beginning_offsets([partition], timeout_ms=_LOOK_UP_MS)
                last = self._consumer.end_offsets([partition], timeout_ms=_LOOK_UP_MS)
            return Log(first=first[partition], last=last[partition], topic_id=self.topic_id(partition.topic))
        except (Retriable, KeyError) as error:
            log.warning("%s/%d cannot be read for now: %s", partition.topic, partition.partition, error)
            return None

    def ends(self, topics: Iterable[str]) -> list[Offset]:
        """The end of each of their partitions that has a leader, as an offset to begin with."""
        partitions = [TopicPartition(topic, n) for topic in topics for n in self._partitions(topic)]
        found = [(partition, self.of(partition)) for partition in partitions]
        return [
            Offset(topic=p.topic, partition=p.partition, expected=None, next=end.last, topic_id=end.topic_id)
            for p, end in found
            if end is not None
        ]

    def last(self, partitions: Collection[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Where they end for readers like us, before transactions that are open; nothing while one has no leader."""
        try:
            with kafka_errors():
                found: Mapping[TopicPartition, int] = self._consumer.end_offsets(partitions, timeout_ms=_LOOK_MS)
                return found
        except (Retriable, KeyError) as error:
            log.debug("the ends of the logs are not known: %s", error)
            return {}

    def topic_id(self, topic: str) -> str:
        """What tells it from a topic of the same name that was deleted, empty where that is not known."""
        found = self._consumer._cluster.topic_id(topic)  # noqa: SLF001  the consumer has no such method of its own
        return "" if found is None else str(found)

    def _partitions(self, topic: str) -> Iterable[int]:
        with kafka_errors():
            found: Iterable[int] = self._consumer.partitions_for_topic(topic) or ()
            return found
