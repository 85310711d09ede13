"""Sends verdicts to a Kafka topic as CloudEvents, each in structured JSON (cloudevents.io, Kafka protocol binding)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from kafka import KafkaProducer, errors
from typing_extensions import override

from monitor.app.export.destination import Destination, Refusal
from monitor.app.export.evaluations import revision_id
from monitor.core.assessment_json import encode
from monitor.core.errors import MonitorError, WrongSettings
from monitor.core.pending import Work
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import kafka_errors
from monitor.ingest.kafka.producer import SECONDS, close_producer, connected_producer, partitions_for
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
        refusals: list[Refusal] = []
        under_way: list[tuple[int, Any]] = []
        try:
            with kafka_errors():
                producer = self._connected()
                for place, verdict in enumerate(verdicts):
                    with _too_long(place, refusals):
                        under_way.append((place, self._begun(producer, verdict)))
                for place, future in under_way:
                    with _too_long(place, refusals):
                        future.get(timeout=SECONDS)
        except MonitorError:
            self.close()  # with what it still holds, since all of it is sent again
            raise
        return refusals

    @override
    def check(self) -> str:
        number = partitions_for(self._connected(), self._topic, setting=_SETTING)
        return f"kafka: topic {self._topic} ({number} partition{'s' * (number != 1)})"

    @override
    def close(self) -> None:
        if self._producer is not None:
            close_producer(self._producer)
            self._producer = None

    def _connected(self) -> KafkaProducer:
        if self._producer is None:
            self._producer = connected_producer(self._kafka, compression_type="lz4")
        return self._producer

    def _begun(self, producer: KafkaProducer, verdict: VerdictToSend) -> Any:
        """The client's future of a record that it has taken."""
        key = f"{verdict.app}/{verdict.interaction_id}".encode()
        return producer.send(self._topic, encode(cloud_event(verdict)).encode(), key=key, headers=_HEADERS)


@contextmanager
def _too_long(place: int, refusals: list[Refusal]) -> Iterator[None]:
    """Adds a refusal if the client or the brokers find the record at `place` too long."""
    try:
        yield
    except errors.MessageSizeTooLargeError as error:
        refusals.append(Refusal(place=place, why=f"kafka: {error}"))


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
