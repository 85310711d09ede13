"""The configured Kafka, opened for reading."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime

from kafka import KafkaConsumer

from monitor.core.errors import OutOfReach, Retriable, WrongSettings
from monitor.core.ports import GroupOffsets
from monitor.core.settings.sections import KafkaSettings
from monitor.ingest.kafka.client import connected
from monitor.ingest.kafka.consumer import KafkaSource
from monitor.ingest.kafka.span import Span, bounds, partitions_of

log = logging.getLogger(__name__)


@contextmanager
def opened(kafka: KafkaSettings, closing: ExitStack) -> Iterator[KafkaConsumer]:
    """A consumer, closed with everything else at the latest.

    Raises:
        OutOfReach: no broker answers.
        WrongSettings, Fatal: the settings contradict each other, or the broker refuses them.
    """
    if not kafka.bootstrap_servers:
        raise WrongSettings("no Kafka is set: MONITOR_KAFKA__BOOTSTRAP_SERVERS=host:9092")
    if bool(kafka.topics) == (kafka.topic_pattern is not None):
        found = "both are set" if kafka.topics else "none is set"
        raise WrongSettings(f"set either MONITOR_KAFKA__TOPICS or MONITOR_KAFKA__TOPIC_PATTERN: {found}")
    servers = ", ".join(kafka.bootstrap_servers)
    log.info("asking %s", servers)
    try:
        consumer = connected(kafka)
        closing.callback(consumer.close, autocommit=False, timeout_ms=1_000)  # nothing, where it is closed
        yield consumer
    except Retriable as error:
        raise OutOfReach(f"{error}\nMONITOR_KAFKA__BOOTSTRAP_SERVERS is {servers}") from error


def source(
    kafka: KafkaSettings, *, group: GroupOffsets, now: Callable[[], datetime], closing: ExitStack, span: Span | None
) -> KafkaSource:
    """Our share of the configured topics, or a span of all of them; raises as `opened` does."""
    with opened(kafka, closing) as consumer:
        limits = None if span is None else bounds(consumer, kafka, span)
        return KafkaSource(consumer, kafka, group=group, now=now, bounds=limits)


def partitions(kafka: KafkaSettings, *, closing: ExitStack) -> Mapping[str, int]:
    """How many partitions each of the configured topics has; raises as `opened` does."""
    with opened(kafka, closing) as consumer:
        return Counter(partition.topic for partition in partitions_of(consumer, kafka))
