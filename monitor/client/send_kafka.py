"""Sends events to a topic of Kafka, with kafka-python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from monitor.client.delivery import end_first
from monitor.client.sender import Encoded, Refused, Unavailable

if TYPE_CHECKING:
    from kafka import KafkaProducer


class KafkaSender:
    """Sends to `topic`, keyed by id; `options` are those of `kafka.KafkaProducer`, such as `security_protocol`."""

    def __init__(self, servers: Sequence[str], topic: str, *, timeout: float, options: Mapping[str, Any]) -> None:
        self._topic = topic
        self._timeout = timeout
        self._options = {
            "bootstrap_servers": list(servers),
            "acks": "all",
            "max_block_ms": int(timeout * 1000),
            **options,
        }
        self._producer: KafkaProducer | None = None

    def send(self, events: Sequence[Encoded]) -> Sequence[str]:
        try:
            from kafka import KafkaProducer  # a chatbot that reports over HTTP need not have it
            from kafka.errors import KafkaError, MessageSizeTooLargeError
        except ImportError as error:
            raise Unavailable("kafka-python is not installed: pip install kafka-python") from error
        try:
            if self._producer is None:
                self._producer = KafkaProducer(**self._options)
                end_first()  # it closes itself when the process ends, and by then it must have been given everything
            sent = [self._producer.send(self._topic, key=event.id.encode(), value=event.body) for event in events]
            for delivery in sent:
                delivery.get(timeout=self._timeout)
        except MessageSizeTooLargeError as error:
            self._give_up()  # an idempotent one fails every later event with the same error
            raise Refused(f"the topic {self._topic} takes no message of that size: {error}") from error
        except KafkaError as error:
            self._give_up()  # a producer that goes on with them would pile up one copy for each attempt
            raise Unavailable(f"Kafka does not take events for {self._topic}: {error!r}") from error
        return ()

    def close(self) -> None:
        self._give_up()

    def _give_up(self) -> None:
        producer, self._producer = self._producer, None
        if producer is None:
            return
        try:
            producer.close(timeout=1)
        except Exception:  # records wait for a broker: kafka-python raises then, and would go on with them
            producer._sender.force_close()  # noqa: SLF001  the client has no public way
