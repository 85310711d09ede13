"""A real OpenTelemetry Collector, configured as docs/join/collector.md says, stands between a chatbot and `monitor`."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from ruamel.yaml import YAML

from tests.live.conftest import PACKAGES, awaited, block, free_port, listens, monitoring, running, turns_of
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name
from tests.rig.services import missing

APP, ANSWER = "library-bot", "Members may borrow ten books for four weeks."
OTELCOL = PACKAGES / "otelcol" / "otelcol"
QUICK = {"MONITOR_COLLECT__CLOSE_AFTER": "1", "MONITOR_COLLECT__GRPC_PORT": "0"}


@pytest.fixture
def collector(tmp_path):
    """Starts a Collector with the receiver of the guide and one of its exporters; gives its endpoint."""
    if not OTELCOL.exists():
        missing("an OpenTelemetry Collector is needed: make live builds one, with Go")
    started = []

    def start(exporter, settings):
        port = free_port()
        configuration = YAML(typ="safe").load(block("yaml", "collector"))
        configuration["receivers"]["otlp"]["protocols"] = {"http": {"endpoint": f"127.0.0.1:{port}"}}
        configuration["exporters"] = {exporter: settings}
        pipelines = configuration["service"]["pipelines"]
        for pipeline in pipelines.values():
            pipeline["exporters"] = [exporter]
        configuration["service"]["telemetry"] = {"metrics": {"level": "none"}}
        file, log = tmp_path / "collector.yaml", tmp_path / "collector.log"
        YAML(typ="safe").dump(configuration, file)
        block_of = running(OTELCOL, "--config", file, environment={}, log=log)
        started.append((block_of, block_of.__enter__()))
        awaited(lambda: listens(port), log)
        return f"http://127.0.0.1:{port}"

    yield start
    for block_of, _ in started:
        block_of.__exit__(None, None, None)


def exporter_of(number):
    ((name, settings),) = YAML(typ="safe").load(block("yaml", "collector", number))["exporters"].items()
    return name, settings


def test_over_http(collector, chatbot, database, tmp_path):
    port, log = free_port(), tmp_path / "log"
    name, settings = exporter_of(0)
    environment = QUICK | {"MONITOR_DATABASE_URL": database, "MONITOR_COLLECT__PORT": str(port)}
    with monitoring("collect", environment=environment, log=log):
        awaited(lambda: listens(port), log)
        chatbot("langchain", collector(name, settings | {"endpoint": f"http://127.0.0.1:{port}"}))
        (turn,) = awaited(lambda: turns_of(database, APP), log)
    assert turn["answer"] == ANSWER


@pytest.mark.parametrize("encoding", ["otlp_proto", "otlp_json"])
def test_through_kafka(encoding, collector, chatbot, database, kafka, tmp_path):
    topic, log = new_topic_name(), tmp_path / "log"
    create_topic(kafka, topic)
    name, settings = exporter_of(1)
    settings |= {"brokers": kafka.split(","), "traces": {"topic": topic, "encoding": encoding}}
    settings["logs"] = {"topic": topic, "encoding": encoding}
    chatbot("langchain", collector(name, settings))
    environment = QUICK | {
        "MONITOR_DATABASE_URL": database,
        "MONITOR_KAFKA__BOOTSTRAP_SERVERS": kafka,
        "MONITOR_KAFKA__TOPICS": topic,
        "MONITOR_INGEST__DIALECT": encoding,
    }
    with monitoring("run", environment=environment, log=log):
        (turn,) = awaited(lambda: turns_of(database, APP), log)
    assert turn["answer"] == ANSWER


def test_through_a_file(collector, chatbot, tmp_path):
    name, settings = exporter_of(2)
    file = tmp_path / "spans.jsonl"
    chatbot("langchain", collector(name, settings | {"path": str(file)}))
    awaited(lambda: file.exists() and file.stat().st_size, tmp_path / "collector.log")

    decoded = subprocess.run(
        [sys.executable, "-m", "monitor", "decode", str(file), "--json"], capture_output=True, text=True, check=True
    )

    assert [json.loads(line)["answer"] for line in decoded.stdout.splitlines()] == [ANSWER]
