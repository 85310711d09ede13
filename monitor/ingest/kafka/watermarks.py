"""Asks the brokers for the first and last offsets of partitions."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping

from kafka import KafkaConsumer, TopicPartition

from monitor.core.errors import Retriable
from monitor.core.message import Offset
from monitor.ingest.kafka.client import kafka_errors
from monitor.ingest.kafka.partition import named
from monitor.ingest.kafka.start_offset import Log

log = logging.getLogger(__name__)
_LOOK_UP_MS = 2_000  # for the partitions of one leader
_LOOK_MS = 1_000  # for the ends of logs, which are looked up often


class Logs:
    """Uses `consumer`, on the thread that polls it."""

    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer

    def of(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, Log]:
        """The logs of those partitions whose leader answers.

        Asks leader by leader: the client silently omits partitions without one, and gives nothing at all if one leader
        of several does not answer.
        """
        by_leader: dict[int | None, list[TopicPartition]] = {}
        for partition in partitions:
            by_leader.setdefault(self._consumer._cluster.leader_for_partition(partition), []).append(partition)  # noqa: SLF001
        return {partition: log for led in by_leader.values() for partition, log in self._of_one_leader(led).items()}

    def _of_one_leader(self, partitions: list[TopicPartition]) -> dict[TopicPartition, Log]:
        why: object = "no leader is known"
        found: dict[TopicPartition, Log] = {}
        try:
            with kafka_errors():
                first = self._consumer.beginning_offsets(partitions, timeout_ms=_LOOK_UP_MS)
                last = self._consumer.end_offsets(partitions, timeout_ms=_LOOK_UP_MS)
            for p in first.keys() & last.keys():
                found[p] = Log(first=first[p], last=last[p], topic_id=self.topic_id(p.topic))
        except Retriable as error:
            why = error
        if missing := set(partitions) - set(found):
            log.warning("%s: cannot be read for now: %s", named(missing), why)
        return found

    def ends(self, topics: Iterable[str]) -> list[Offset]:
        """The end of each partition that has a leader, as an offset to start from."""
        found = self.of(TopicPartition(topic, n) for topic in topics for n in self._partitions(topic))
        return [
            Offset(topic=p.topic, partition=p.partition, expected=None, next=end.last, topic_id=end.topic_id)
            for p, end in found.items()
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
