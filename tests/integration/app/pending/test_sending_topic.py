"""Verdicts in a Kafka topic, and the settings of all destinations through the whole program."""

from __future__ import annotations

import base64
import json
import logging
from random import Random
from threading import Event

import pytest
from kafka import KafkaConsumer

from monitor.app.doctor.examine import examine
from monitor.app.export.topic import TopicDestination
from monitor.app.pending.worker_process import makes_work
from monitor.app.pending.workers import work_off
from monitor.app.wiring.application import Application
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.core.model import Origin, Support, SupportingDocument
from monitor.core.pending import Work
from monitor.core.settings.kafka import KafkaSettings
from monitor.core.settings.load import load_settings
from monitor.store.pending.queue import PendingQueue
from monitor.store.pending.verdicts import VerdictQueue
from tests.factories.answers import NOON, a_batch, an_assessment
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name
from tests.rig.store.pending_work import LEASE
from tests.servers.verdicts import Langfuse, receiving

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def settings(database, monkeypatch):
    """Loads settings with the test's database and the hash embedder; takes variables without the prefix."""

    def load(**values):
        for name, value in {"DATABASE_URL": database, "EMBEDDING__PROVIDER": "hash", **values}.items():
            monkeypatch.setenv(f"MONITOR_{name}", value)
        return load_settings()

    return load


def work(settings):
    with Application(settings) as application:
        application.prepare()
        return work_off(application, Event())


def examined(settings):
    with Application(settings) as application:
        return next(finding for finding in examine(application) if finding.check == "verdicts out")


def store(settings, *assessments):
    with Application(settings) as application:
        application.store.write(a_batch(*assessments))


def test_a_verdict_is_in_the_topic_as_a_cloud_event_with_a_stable_id(kafka, settings):
    topic = create_topic(kafka, new_topic_name())
    known = settings(KAFKA__BOOTSTRAP_SERVERS=kafka, EXPORT__KAFKA__TOPIC=topic)
    store(known, an_assessment(id="q/1", app="støtte", trace_id=TRACE, span_id=SPAN), an_assessment(id="q-2"))
    assert work(known) == 2
    with Application(known) as application:  # as if our answer from the brokers had been lost
        with application.store.transaction() as connection:
            application.store.send_out(connection, [an_assessment(id="q/1", app="støtte").interaction])
        queue = VerdictQueue(application.engine, Work.SEND_KAFKA)
        destination = TopicDestination(known.kafka, topic)
        assert destination.send(queue.claim(application.now(), most=10, lease=LEASE)) == []
        destination.close()
    consumer = KafkaConsumer(topic, bootstrap_servers=kafka, auto_offset_reset="earliest")
    records = []
    while len(records) < 3:
        records += [record for batch in consumer.poll(timeout_ms=500).values() for record in batch]
    consumer.close()
    first, second, again = (json.loads(record.value) for record in records)
    assert records[0].key.decode() == "støtte/q/1"
    assert dict(records[0].headers) == {"content-type": b"application/cloudevents+json; charset=UTF-8"}
    assert {name: first[name] for name in ("specversion", "type", "source", "subject", "datacontenttype")} == {
        "specversion": "1.0",
        "type": "monitor.verdict",
        "source": "/monitor/st%C3%B8tte",
        "subject": "q/1",
        "datacontenttype": "application/json",
    }
    assert first == again
    assert first["id"] != second["id"]
    data = first["data"]
    assert (data["verdict"], data["trace_id"], data["span_id"]) == ("grounded", TRACE, SPAN)
    assert data["metrics"] == {"sdq": 0.75, "sdrd": 0.875, "sda": 0.5, "qrd": 0.625, "qa": 0.25}
    assert data["probabilities"] == {"grounded": 0.75, "refusal": 0.125, "self_generated": 0.125}
    assert data["support"]["documents"][0]["text"] == "Deleted snapshots are kept"
    assert data["occurred_at"] == NOON.isoformat().replace("+00:00", "Z")
    assert data["profile"] == {"name": "hash", "hash": "0123456789abcdef"}


def test_a_verdict_that_is_too_long_for_the_topic_is_given_up_alone(kafka, settings):
    """The topic's limit is on what is compressed."""
    topic = create_topic(kafka, new_topic_name(), configs={"max.message.bytes": str(2**20)})
    known = settings(KAFKA__BOOTSTRAP_SERVERS=kafka, EXPORT__KAFKA__TOPIC=topic)
    long, too_long = "long " * 300_000, base64.b64encode(Random(1).randbytes(3 * 2**20)).decode()
    store(known, an_assessment(id="q-1"), *(supported(f"q-{n}", text) for n, text in ((2, long), (3, too_long))))
    store(known, an_assessment(id="q-4"))
    assert work(known) == 4
    with Application(known) as application:
        (left,) = PendingQueue(application.engine).rows(kind=None, given_up=None, most=10)
    assert (left["interaction_id"], left["given_up"]) == ("q-3", True)
    assert "MessageSizeTooLargeError" in left["last_error"]


def supported(id_, text):
    return an_assessment(id=id_, support=Support(origin=Origin.LOGGED, documents=(SupportingDocument(text=text),)))


def test_doctor_says_whether_the_topic_is_there(kafka, settings):
    topic = create_topic(kafka, new_topic_name())
    known = {"KAFKA__BOOTSTRAP_SERVERS": kafka, "KAFKA__TOPICS": "answers"}
    found = examined(settings(**known, EXPORT__KAFKA__TOPIC=topic))
    assert found.good
    assert found.detail == f"kafka: topic {topic} (1 partition); verdicts that wait to be sent: 0"


def test_a_topic_that_is_read_is_refused():
    with pytest.raises(WrongSettings, match="one of the topics to read"):
        TopicDestination(KafkaSettings(bootstrap_servers=("x:1",), topics=("answers",)), "answers")


def test_brokers_that_are_down_are_waited_for():
    destination = TopicDestination(KafkaSettings(bootstrap_servers=("127.0.0.1:1",), request_timeout_ms=300), "v")
    with pytest.raises((Retriable, Fatal)):
        destination.send([])


def test_nothing_is_queued_unless_a_destination_is_set(settings):
    known = settings()
    store(known, an_assessment(trace_id=TRACE))
    with Application(known) as application:
        assert PendingQueue(application.engine).counts(NOON) == []
    assert not makes_work(known)
    assert makes_work(settings(EXPORT__OTLP__ENDPOINT="http://127.0.0.1:1"))
    assert examined(known).detail == "not used: no MONITOR_EXPORT__… is set"


def test_settings_choose_the_answers_and_the_scores_and_doctor_shows_what_was_given_up(settings, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    secret = tmp_path / "key"
    secret.write_text("sk-test\n")
    with receiving(Langfuse()) as receiver:
        known = settings(
            EXPORT__LANGFUSE__URL=receiver.server.url,
            EXPORT__LANGFUSE__PUBLIC_KEY="pk-test",
            EXPORT__LANGFUSE__SECRET_KEY_FILE=str(secret),
            EXPORT__APPS="support-bot",
            EXPORT__SCORES="verdict, refusal",
        )
        store(known, an_assessment(id="q-1", trace_id=TRACE), an_assessment(id="q-2"))
        store(known, an_assessment(id="q-3", app="other-bot", trace_id=TRACE))
        assert examined(known).detail.endswith("takes these keys; verdicts that wait to be sent: 1")
        work(known)
        assert {one.interaction for one in receiver.taken.values()} == {"q-1"}  # q-2 has no trace
        assert {one.name for one in receiver.taken.values()} == {"monitor.verdict", "monitor.refusal"}
        receiver.refused.add("q-4")
        store(known, an_assessment(id="q-4", trace_id=TRACE))
        work(known)
        found = examined(known)
        assert not found.good
        assert "given up: 1; langfuse: a score is refused: 400" in found.detail
        assert not receiver.problems
    found = examined(known)
    assert not found.good
    assert "langfuse at 127.0.0.1" in found.detail
    assert "sk-test" not in caplog.text + found.detail + repr(known)


def test_a_sample_is_picked_by_id(settings):
    ids = [f"q-{n}" for n in range(200)]
    sizes = []
    for share in ("0.25", "0.5"):
        with Application(settings(EXPORT__OTLP__ENDPOINT="http://127.0.0.1:1", EXPORT__SAMPLE=share)) as application:
            chosen = application.store._sends
            sizes.append({id_ for id_ in ids if list(chosen(an_assessment(id=id_).interaction))})
    quarter, half = sizes
    assert quarter < half
    assert 30 < len(quarter) < 70
