"""How soon the partitions of a dead consumer are read by another, at the default settings."""

from __future__ import annotations

import pytest

from monitor.core.errors import Fatal
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import connected
from tests.rig.ingest.consuming import Consumer, answers, consumer_process, settings_for
from tests.rig.ingest.kafka_cluster import create_topic, group_members, new_topic_name, produce
from tests.rig.waiting import until

DEFAULT = KafkaSettings()


def test_the_client_takes_the_intervals_of_the_settings(kafka):
    settings = KafkaSettings(bootstrap_servers=kafka)
    with connected(settings) as consumer:
        for name in ("session_timeout_ms", "heartbeat_interval_ms", "max_poll_interval_ms"):
            assert consumer.config[name] == getattr(settings, name)


def test_the_partitions_of_killed_consumers_are_taken_over(kafka, database, rows, tmp_path):
    topic = create_topic(kafka, new_topic_name(), partitions=3)
    group = f"group-{topic}"
    names = {
        "KAFKA__SESSION_TIMEOUT_MS": str(DEFAULT.session_timeout_ms),
        "KAFKA__HEARTBEAT_INTERVAL_MS": str(DEFAULT.heartbeat_interval_ms),
    }
    consumers = []
    try:
        for number in (1, 2, 3):
            consumers.append(consumer_process(tmp_path, kafka, database, topic, **names))
            until(f"{number} are in the group", lambda n=number: len(group_members(kafka, group)) == n)
        until("each has its share", lambda: all(map(len, group_members(kafka, group).values())))
        for consumer in consumers[:2]:
            consumer.kill()
            consumer.wait()
        for partition in range(3):
            produce(kafka, topic, answers(*range(10 * partition, 10 * partition + 10)), partition=partition)
        until("all are stored", lambda: rows("SELECT count(*) FROM interaction") == [(30,)])
    finally:
        for consumer in consumers:
            consumer.kill()
            consumer.wait()


def test_a_session_that_the_broker_refuses_is_named_with_its_limits(kafka, database):
    topic = create_topic(kafka, new_topic_name())
    settings = settings_for(kafka, database, topic, session_timeout_ms=600)  # the broker's least is a second
    with pytest.raises(Fatal, match=r"SESSION_TIMEOUT_MS must be within .* group.min.session.timeout.ms"):
        Consumer(settings).ended()
