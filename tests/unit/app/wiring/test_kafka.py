"""Kafka as the settings describe it."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from monitor.app.wiring import kafka
from monitor.app.wiring.kafka import KafkaWiring
from monitor.core.errors import WrongSettings
from monitor.core.settings.kafka import KafkaSettings
from tests.factories.answers import clock


class Cluster:
    """A consumer of a cluster with these topics, of one partition each."""

    def __init__(self, *topics):
        self._topics = topics

    def topics(self):
        return set(self._topics)

    def partitions_for_topic(self, _topic):
        return {0}

    def close(self, **_):
        pass


@pytest.mark.parametrize(
    ("read", "lacking"),
    [
        ({}, "MONITOR_KAFKA__BOOTSTRAP_SERVERS=host:9092 and MONITOR_KAFKA__TOPICS=topic (or …__TOPIC_PATTERN)"),
        ({"topics": ("rag",)}, "MONITOR_KAFKA__BOOTSTRAP_SERVERS=host:9092"),
        ({"topic_pattern": "rag.*"}, "MONITOR_KAFKA__BOOTSTRAP_SERVERS=host:9092"),
    ],
)
def test_all_that_is_lacking_is_named_at_once(read, lacking):
    with ExitStack() as closing:
        wiring = KafkaWiring(KafkaSettings(**read), engine=None, new_writer=None, closing=closing, now=clock)
        with pytest.raises(WrongSettings) as refused:
            wiring.source()
    assert str(refused.value) == f"no Kafka is set: {lacking}"


@pytest.mark.parametrize("read", [{"topics": ("otlp", "rag")}, {"topic_pattern": "otlp.*|rag"}])
def test_a_topic_that_is_called_like_ours_is_refused_in_our_group(read, monkeypatch):
    monkeypatch.setattr(kafka, "connected", lambda _: Cluster("otlp", "rag", "http"))
    settings = KafkaSettings(bootstrap_servers=("broker:9092",), **read)
    with ExitStack() as closing:
        wiring = KafkaWiring(settings, engine=None, new_writer=None, closing=closing, now=clock)
        with pytest.raises(WrongSettings, match="otlp: the group monitor has topics of its own by that name"):
            wiring.source()
