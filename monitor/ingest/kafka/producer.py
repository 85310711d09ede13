"""The producer of what monitor itself writes to Kafka: dead letters, verdicts, and the notes of the audit trail."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from typing import Any

from kafka import KafkaProducer, errors

from monitor.core.errors import WrongSettings
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import client_options, kafka_errors

SECONDS = 30.0  # for the brokers to take a record
_BLOCK_MS = 5_000
_LARGEST = 64 * 2**20  # bytes of a request; the broker may allow less


def connected_producer(kafka: KafkaSettings, **options: Any) -> KafkaProducer:
    """A producer whose records are taken once all replicas in sync have them, and which creates no topic.

    A record may be there more than once, and one that is refused keeps out no other: as an idempotent producer, which
    is the default, kafka-python would fail every later record with the error of the first.

    `options` are further ones of kafka-python's. Where no broker answers, what the client has opened until then is
    closed, which it forgets to do.

    Raises:
        Retriable: no broker is reachable for now.
        WrongSettings, Fatal: the settings contradict each other, or the broker refuses them.
    """
    with kafka_errors(), ExitStack() as opened:

        def client(**config: Any) -> Any:
            made = KafkaProducer.DEFAULT_CONFIG["kafka_client"](**config)
            opened.callback(made.close)
            return made

        producer = KafkaProducer(
            **client_options(kafka),
            kafka_client=client,
            acks="all",
            enable_idempotence=False,
            allow_auto_create_topics=False,
            metrics_enabled=False,
            max_block_ms=_BLOCK_MS,
            max_request_size=_LARGEST,
            **options,
        )
        opened.pop_all()
    return producer


def partitions_for(producer: KafkaProducer, topic: str, *, setting: str) -> int:
    """The number of partitions of a topic that `setting` names.

    Raises:
        WrongSettings: there is no such topic.
        Retriable, Fatal: see `kafka_errors`.
    """
    with kafka_errors():
        try:
            return len(producer.partitions_for(topic) or ())
        except errors.KafkaTimeoutError:
            raise WrongSettings(f"{setting}: there is no topic {topic}") from None


def close_producer(producer: KafkaProducer, *, within: float = 1.0) -> None:
    """Closes a producer, and drops the records that no broker takes within so many seconds.

    The client itself would raise then, and stay open.
    """
    try:
        producer.close(timeout=within)
    except errors.KafkaError:
        producer._sender.force_close()  # noqa: SLF001  ends its thread, which fails the records that wait
        with suppress(errors.KafkaError):
            producer.close(timeout=within)
