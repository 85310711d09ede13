"""Sends verdicts to a Kafka topic as CloudEvents, each in structured JSON (cloudevents.io, Kafka protocol binding)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from kafka import KafkaProducer, errors
from typing_extensions import override

from monitor.app.export.destination import Destination, Refusal
from monitor.app.export.evaluations import revision_id
from monitor.core.assessment_json import encode
from monitor.core.errors import MonitorError, WrongSettings
from monitor.core.model import Work
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import client_options, kafka_errors
from monitor.store.pending.verdicts import VerdictToSend

TYPE = "monitor.verdict"
_SETTING = "MONITOR_EXPORT__KAFKA__TOPIC"
_HEADERS = [("content-type", b"application/cloudevents+json; charset=UTF-8")]
_AT_ONCE = 200
_SECONDS = 30.0
_BLOCK_MS = 5_000


class TopicDestination(Destination):
    """A topic; every verdict is there, on all replicas in sync, before its row is deleted.

    Raises:
        WrongSettings: the topic is one of those that are read.
    """

    kind = Work.SEND_KAFKA
    at_once = _AT_ONCE

    def __init__(self, kafka: KafkaSettings, topic: str) -> None:
        if topic in kafka.topics or (kafka.topic_pattern is not None and re.match(kafka.topic_pattern, topic)):
            raise WrongSettings(f"{_SETTING}: {topic} is one of the topics to read; verdicts would come back as events")
        self._kafka = kafka
        self._topic = topic
        self._producer: KafkaProducer | None = None

    @override
    def send(self, verdicts: Sequence[VerdictToSend]) -> Sequence[Refusal]:
        try:
            with kafka_errors():
                producer = self._connected()
                waits = [self._sent(producer, verdict) for verdict in verdicts]
                found = [(place, _too_long(wait)) for place, wait in enumerate(waits)]
        except MonitorError:
            self.close()  # with what it still holds, since all of it is sent again
            raise
        return [Refusal(place=place, why=f"kafka: {why}") for place, why in found if why is not None]

    @override
    def check(self) -> str:
        with kafka_errors():
            producer = self._connected()
            try:
                partitions = producer.partitions_for(self._topic)
            except errors.KafkaTimeoutError:
                raise WrongSettings(f"{_SETTING}: there is no topic {self._topic}") from None
        number = len(partitions or ())
        return f"kafka: topic {self._topic} ({number} partition{'s' * (number != 1)})"

    @override
    def close(self) -> None:
        if self._producer is not None:
            with suppress(errors.KafkaError):
                self._producer.close(timeout=1)
            self._producer = None

    def _connected(self) -> KafkaProducer:
        if self._producer is None:
            self._producer = _new_producer(client_options(self._kafka))
        return self._producer

    def _sent(self, producer: KafkaProducer, verdict: VerdictToSend) -> Callable[[], object]:
        key = f"{verdict.app}/{verdict.interaction_id}".encode()
        value = encode(cloud_event(verdict)).encode()
        try:
            future = producer.send(self._topic, value, key=key, headers=_HEADERS)
        except errors.MessageSizeTooLargeError as error:
            return _raising(error)
        return lambda: future.get(timeout=_SECONDS)


def _new_producer(options: Mapping[str, Any]) -> KafkaProducer:
    """A producer; where no broker answers, what it has opened until then is closed, which it forgets to do."""
    with ExitStack() as opened:

        def client(**config: Any) -> Any:
            made = KafkaProducer.DEFAULT_CONFIG["kafka_client"](**config)
            opened.callback(made.close)
            return made

        producer = KafkaProducer(
            **options,
            kafka_client=client,
            acks="all",
            compression_type="zstd",
            allow_auto_create_topics=False,
            metrics_enabled=False,
            max_block_ms=_BLOCK_MS,
        )
        opened.pop_all()
    return producer


def _raising(error: Exception) -> Callable[[], object]:
    def wait() -> object:
        raise error

    return wait


def _too_long(wait: Callable[[], object]) -> str | None:
    """Waits for the brokers; returns their words if the message is too long for the topic."""
    try:
        wait()
    except errors.MessageSizeTooLargeError as error:
        return str(error)
    return None


def cloud_event(verdict: VerdictToSend) -> dict[str, Any]:
    """The assessment as a CloudEvent; `id` is the same however often this revision is sent."""
    return {
        "specversion": "1.0",
        "id": revision_id(verdict),
        "source": f"/monitor/{quote(verdict.app, safe='')}",
        "type": TYPE,
        "subject": verdict.interaction_id,
        "time": verdict.at.isoformat().replace("+00:00", "Z"),
        "datacontenttype": "application/json",
        "data": {
            **verdict.assessment,
            "trace_id": verdict.trace_id,
            "span_id": verdict.span_id,
            "judgements": [asdict(judgement) for judgement in verdict.judgements],
        },
    }
