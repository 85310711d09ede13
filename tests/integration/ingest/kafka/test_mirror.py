"""Dead letters in a topic of their own, whose limit some of them exceed."""

from __future__ import annotations

from contextlib import closing
from random import Random

from kafka import KafkaConsumer

from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.dead_letter import DeadLetterMirror
from tests.factories.answers import a_dead_letter
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name


def test_a_letter_that_is_too_long_for_the_topic_keeps_out_no_other(kafka, caplog):
    topic = create_topic(kafka, new_topic_name(), configs={"max.message.bytes": str(2**16)})
    letters = [a_dead_letter(value) for value in (b"one", Random(1).randbytes(2**17), b"two", b"three")]
    with closing(DeadLetterMirror(KafkaSettings(bootstrap_servers=(kafka,)), topic)) as mirror:
        mirror.send(letters[:3])
        mirror.send(letters[3:])
    consumer = KafkaConsumer(
        topic, bootstrap_servers=kafka, auto_offset_reset="earliest", consumer_timeout_ms=3_000, metrics_enabled=False
    )
    with closing(consumer):
        assert sorted(record.value for record in consumer) == [b"one", b"three", b"two"]
    assert caplog.text.count("a dead letter is too long") == 1
