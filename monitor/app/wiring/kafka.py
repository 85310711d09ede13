"""The part of the composition root that wires Kafka: its source, its store and the consumer group."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from kafka import KafkaConsumer

from monitor.core.errors import OutOfReach, Retriable, WrongSettings
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import connected
from monitor.ingest.kafka.consumer import KafkaSource
from monitor.ingest.kafka.dead_letter import DeadLetterGate, DeadLetterLimit, DeadLetterMirror
from monitor.ingest.kafka.span import Span, bounds, partitions_of
from monitor.store.collect.inbox import TOPICS
from monitor.store.interaction.writer import GROUP
from monitor.store.ledger.offsets import ConsumerGroup

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from monitor.core.ports import Store
    from monitor.store.interaction.writer import Writer

log = logging.getLogger(__name__)


class NewWriter(Protocol):
    """Opens a writer for a consumer group; with `rescore`, a profile's hash, it stores assessments only."""

    def __call__(self, *, group: str, rescore: str) -> Writer: ...


class KafkaWiring:
    """Kafka as the settings describe it. Each part is built when it is first asked for."""

    def __init__(
        self,
        kafka: KafkaSettings,
        *,
        engine: Callable[[], Engine],
        new_writer: NewWriter,
        closing: ExitStack,
        now: Callable[[], datetime],
    ) -> None:
        self._kafka = kafka
        self._engine = engine
        self._new_writer = new_writer
        self._closing = closing
        self._now = now

    @cached_property
    def group(self) -> ConsumerGroup:
        """The stored offsets of the configured consumer group."""
        return ConsumerGroup(self._engine(), self._kafka.group_id)

    def source(self, span: Span | None = None) -> KafkaSource:
        """Our share of the configured topics, or a span of all of them.

        Raises:
            OutOfReach: no broker answers.
            WrongSettings, Fatal: the settings contradict each other, or the broker refuses them.
        """
        with self._connected() as consumer:
            if self._kafka.topic_pattern is not None:
                self._check_names({partition.topic for partition in partitions_of(consumer, self._kafka)})
            limits = None if span is None else bounds(consumer, self._kafka, span)
            return KafkaSource(consumer, self._kafka, group=self.group, now=self._now, bounds=limits)

    def partitions(self) -> Mapping[str, int]:
        """The number of partitions of each configured topic; raises as `source` does."""
        with self._connected() as consumer:
            return Counter(partition.topic for partition in partitions_of(consumer, self._kafka))

    def store(self, *, rescore: str = "") -> Store:
        """Where batches of Kafka go, behind the limit on dead letters; `rescore` as in `NewWriter`.

        Raises:
            WrongSettings: the group has read for another purpose before.
        """
        kafka, mirror = self._kafka, None
        self.group.check(profile_hash=rescore)
        writer = self._new_writer(group=kafka.group_id, rescore=rescore)
        if kafka.dead_letter_topic is not None and not rescore:
            mirror = DeadLetterMirror(kafka, kafka.dead_letter_topic)
            self._closing.callback(mirror.close)
        limit = DeadLetterLimit(consecutive=kafka.max_consecutive_dead, ratio=kafka.max_dead_ratio)
        return DeadLetterGate(writer, limit, mirror)

    def _check_names(self, topics: Iterable[str]) -> None:
        """Offsets of the inbox are stored under the same names, so that one of the two would be passed over."""
        if self._kafka.group_id == GROUP and (own := set(topics) & set(TOPICS)):
            names = " and ".join(sorted(own))
            raise WrongSettings(
                f"{names}: the group {GROUP} has topics of its own by that name; set another MONITOR_KAFKA__GROUP_ID"
            )

    @contextmanager
    def _connected(self) -> Iterator[KafkaConsumer]:
        """A consumer, which is closed when the application closes, if not before."""
        kafka = self._kafka
        if not kafka.bootstrap_servers:
            named = kafka.topics or kafka.topic_pattern is not None
            topics = "" if named else " and MONITOR_KAFKA__TOPICS=topic (or …__TOPIC_PATTERN)"
            raise WrongSettings(f"no Kafka is set: MONITOR_KAFKA__BOOTSTRAP_SERVERS=host:9092{topics}")
        if bool(kafka.topics) == (kafka.topic_pattern is not None):
            found = "both are set" if kafka.topics else "none is set"
            raise WrongSettings(f"set either MONITOR_KAFKA__TOPICS or MONITOR_KAFKA__TOPIC_PATTERN: {found}")
        self._check_names(kafka.topics)
        servers = ", ".join(kafka.bootstrap_servers)
        log.info("connecting to %s", servers)
        try:
            consumer = connected(kafka)
            self._closing.callback(consumer.close, autocommit=False, timeout_ms=1_000)  # does nothing when it is closed
            yield consumer
        except Retriable as error:
            raise OutOfReach(f"{error}\nMONITOR_KAFKA__BOOTSTRAP_SERVERS is {servers}") from error
