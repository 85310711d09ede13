"""Sends verdicts to a Kafka topic as CloudEvents, each in structured JSON (cloudevents.io, Kafka protocol binding)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
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
from monitor.ingest.kafka.client import kafka_errors
from monitor.ingest.kafka.producer import SECONDS, connected_producer, partitions_for
from monitor.store.pending.verdicts import VerdictToSend

TYPE = "monitor.verdict"
_SETTING = "MONITOR_EXPORT__KAFKA__TOPIC"
_HEADERS = [("content-type", b"application/cloudevents+json; charset=UTF-8")]
_AT_ONCE = 200


class TopicDestination(Destination):
    """A topic; every verdict is there, on all replicas in sync, before its row is deleted.

    Raises:
        WrongSettings: the topic is one of those that are read.
    """

    kind = Work.SEND_KAFKA
    at_once = _AT_ONCE

    def __init__(self, kafka: KafkaSettings, topic: str) -> None:
        if kafka.reads(topic):
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
        number = partitions_for(self._connected(), self._topic, setting=_SETTING)
        return f"kafka: topic {self._topic} ({number} partition{'s' * (number != 1)})"

    @override
    def close(self) -> None:
        if self._producer is not None:
            with suppress(errors.KafkaError):
                self._producer.close(timeout=1)
            self._producer = None

    def _connected(self) -> KafkaProducer:
        if self._producer is None:
            self._producer = connected_producer(self._kafka, compression_type="zstd")
        return self._producer

    def _sent(self, producer: KafkaProducer, verdict: VerdictToSend) -> Callable[[], object]:
        key = f"{verdict.app}/{verdict.interaction_id}".encode()
        value = encode(cloud_event(verdict)).encode()
        try:
            future = producer.send(self._topic, value, key=key, headers=_HEADERS)
        except errors.MessageSizeTooLargeError as error:
            return _raising(error)
        return lambda: future.get(timeout=SECONDS)


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
