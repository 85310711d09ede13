"""The ways to a destination: HTTP, a file, Kafka."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace

import kafka
import pytest
from kafka.errors import KafkaTimeoutError, MessageSizeTooLargeError

from monitor.client import Reporter
from monitor.client.send_http import retry_after
from tests.factories.turn import TURN

pytestmark = pytest.mark.usefixtures("quick")


@pytest.mark.parametrize(
    ("given", "path"), [("", "/v1/interactions"), ("/", "/v1/interactions"), ("/own?team=7", "/own?team=7")]
)
def test_over_http_to_the_monitors_path_unless_another_is_given(given, path, door):
    with Reporter(door.url + given) as reporter:
        reporter.record(**TURN)
    assert door.requests[0].path == path


def test_retry_after_may_be_a_date():
    assert retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 30) == 30
    assert retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 90) == 0
    assert retry_after("inf", 0) is retry_after("soon", 0) is retry_after(None, 0) is None


def test_a_file_gets_whole_lines_and_after_a_full_disk_no_half_line(tmp_path, monkeypatch):
    path = tmp_path / "a b.jsonl"
    path.write_text('{"id": "old"}\n')
    write, calls = os.write, []

    def full_disk(descriptor, data):
        calls.append(len(data))
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return write(descriptor, bytes(data[:20]) if len(calls) == 1 else data)

    monkeypatch.setattr(os, "write", full_disk)
    with Reporter(path.as_uri()) as reporter:
        reporter.record(**TURN, id="new")
        assert reporter.flush()
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["old", "new"]


class Producer:
    """Stands in for `kafka.KafkaProducer`; fails as often as `failures` says."""

    made, taken, failures = [], [], []

    def __init__(self, **options):
        self.made.append(options)

    def send(self, topic, *, key, value):
        if self.failures:
            raise self.failures.pop(0)
        self.taken.append((topic, key, json.loads(value)["id"]))
        return SimpleNamespace(get=lambda **_: None)

    def close(self, timeout):
        pass


def test_to_kafka_with_the_id_as_key_and_a_new_producer_after_a_failure(monkeypatch):
    monkeypatch.setattr(kafka, "KafkaProducer", Producer)
    Producer.failures[:] = [KafkaTimeoutError()]
    reporter = Reporter("kafka://a:9092,b:9092/answers", kafka={"security_protocol": "SSL"})
    reporter.record(**TURN, id="x")
    assert reporter.flush(20)
    Producer.failures[:] = [MessageSizeTooLargeError()]
    reporter.record(**TURN, id="too large")
    assert reporter.close(20)
    assert Producer.taken == [("answers", b"x", "x")]
    assert [made["bootstrap_servers"] for made in Producer.made] == [["a:9092", "b:9092"]] * 2
    assert Producer.made[0]["security_protocol"] == "SSL"
    assert (reporter.sent, reporter.dropped) == (1, 1)


def test_a_producer_that_cannot_be_closed_ends_no_reporting(monkeypatch):
    """kafka-python raises where records still wait, as while no broker answers, and stays open."""

    forced = []

    class Stuck(Producer):
        def __init__(self, **options):
            super().__init__(**options)
            self._sender = SimpleNamespace(force_close=lambda: forced.append(self))

        def close(self, timeout):
            raise KafkaTimeoutError("Timeout waiting for future")

    monkeypatch.setattr(kafka, "KafkaProducer", Stuck)
    Producer.taken.clear()
    Producer.failures[:] = [KafkaTimeoutError()]
    reporter = Reporter("kafka://a:9092/answers")
    reporter.record(**TURN, id="x")
    assert reporter.flush(20)
    assert reporter.close(20)
    assert Producer.taken == [("answers", b"x", "x")]
    assert (reporter.sent, reporter.dropped) == (1, 0)
    assert len(forced) == 2
