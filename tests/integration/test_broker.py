"""The brokers that other tests stand on: they serve, keep what they took, refuse strangers and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from kafka import KafkaConsumer
from kafka.errors import KafkaError

from monitor.errors import OutOfReach, WrongSettings
from monitor.simulate import broker
from monitor.simulate.broker import KafkaCluster, kafka_jars
from tests.kafka_cluster import (
    KEY_PASSWORD,
    PASSWORD,
    USER,
    cluster,
    committed_offsets,
    create_topic,
    group_members,
    grow_topic,
    kcat_produce,
    new_topic_name,
    produce,
    unsigned_token,
)

ROOT = Path(__file__).parents[2]
OWNER = """
import sys
from pathlib import Path
from monitor.simulate.broker import KafkaCluster, kafka_jars
with KafkaCluster(Path(sys.argv[1]), jars=kafka_jars()):
    print("ready", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def topic(kafka):
    return create_topic(kafka, new_topic_name())


def read(bootstrap, topic, number, **settings):
    """The first messages of a topic. It goes on until they are there."""
    found = []
    with reader(bootstrap, topic, **settings) as consumer:
        while len(found) < number:
            for records in consumer.poll(timeout_ms=200).values():
                found += records
    return found


def reader(bootstrap, *topics, **settings):
    return KafkaConsumer(*topics, bootstrap_servers=bootstrap, **{"auto_offset_reset": "earliest", **settings})


def values(records):
    return [record.value for record in records]


def nodes_in(folder):
    """The ids of processes that run in a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "cwd").readlink() == folder:
                found.append(int(entry.name))
        except OSError:
            continue
    return found
