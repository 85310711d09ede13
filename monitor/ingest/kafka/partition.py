"""Converts our partitions and offsets to the client's types, and to text for the log."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping

from kafka import OffsetAndMetadata, TopicPartition

from monitor.core.message import Partition

log = logging.getLogger(__name__)


def topic_partition(partition: Partition) -> TopicPartition:
    return TopicPartition(*partition)


def named(partitions: Iterable[Partition]) -> str:
    """`topic/number` of each, in order, for the log."""
    return ", ".join(f"{topic}/{number}" for topic, number in sorted(partitions))


def offsets_to_commit(stored: Mapping[Partition, int]) -> dict[TopicPartition, OffsetAndMetadata]:
    return {topic_partition(p): OffsetAndMetadata(reached, "", -1) for p, reached in stored.items()}


def log_commit(_: object, answer: object) -> None:
    """Logs a commit that failed; the client calls it."""
    if isinstance(answer, Exception):
        log.debug("offsets were not committed to Kafka, where only lag tools need them: %s", answer)
