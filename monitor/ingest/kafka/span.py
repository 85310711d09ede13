"""Finds the offsets between two times, to read a part of a topic again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from kafka import KafkaConsumer, TopicPartition

from monitor.core.errors import WrongSettings
from monitor.core.message import Partition
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import kafka_errors, topics_seen

_LOOK_UP_MS = 15_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Records from `start` on and before `end`, by their timestamps; None is the first record, or the last one now."""

    start: datetime | None
    end: datetime | None


def bounds(consumer: KafkaConsumer, kafka: KafkaSettings, span: Span) -> Mapping[Partition, tuple[int, int]]:
    """First offset and end of each partition of the topics of `kafka`.

    Raises:
        WrongSettings: a topic does not exist, or the span ends before it starts.
        Retriable, Fatal: see `kafka_errors`.
    """
    if span.start is not None and span.end is not None and span.start >= span.end:
        raise WrongSettings(f"--from {span.start} is not before --to {span.end}")
    partitions = partitions_of(consumer, kafka)
    with kafka_errors():
        begins = consumer.beginning_offsets(partitions, timeout_ms=_LOOK_UP_MS)
        ends = consumer.end_offsets(partitions, timeout_ms=_LOOK_UP_MS)
        first = _at(consumer, partitions, span.start, otherwise=ends) if span.start else begins
        last = _at(consumer, partitions, span.end, otherwise=ends) if span.end else ends
    return {partition: (first[partition], max(first[partition], last[partition])) for partition in partitions}


def partitions_of(consumer: KafkaConsumer, kafka: KafkaSettings) -> list[TopicPartition]:
    """Every partition of the topics of `kafka`, in order.

    Raises:
        WrongSettings: a topic does not exist.
        Retriable, Fatal: see `kafka_errors`.
    """
    there = topics_seen(consumer)
    if kafka.topic_pattern is not None:
        topics = [topic for topic in sorted(there) if kafka.reads(topic)]
    else:
        topics = list(kafka.topics)
    if missing := [topic for topic in topics if topic not in there]:
        raise WrongSettings(f"no such topic: {', '.join(missing)}")
    with kafka_errors():
        return [
            TopicPartition(topic, number) for topic in topics for number in sorted(consumer.partitions_for_topic(topic))
        ]


def _at(
    consumer: KafkaConsumer, partitions: list[TopicPartition], moment: datetime, *, otherwise: Mapping[Partition, int]
) -> dict[Partition, int]:
    """The first offset of a record at or after `moment`; without any, the end."""
    milliseconds = max(0, int(moment.timestamp() * 1000))
    found = consumer.offsets_for_times(dict.fromkeys(partitions, milliseconds), timeout_ms=_LOOK_UP_MS)
    return {p: otherwise[p] if found.get(p) is None else found[p].offset for p in partitions}
