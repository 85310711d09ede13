"""The client with a real Kafka, whose topic does not take every event."""

from __future__ import annotations

from random import Random

from monitor.client import Reporter
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name


def test_an_event_that_is_too_long_for_the_topic_loses_no_other(kafka):
    topic = create_topic(kafka, new_topic_name(), configs={"max.message.bytes": str(2**16)})
    reporter = Reporter(f"kafka://{kafka}/{topic}", kafka={"metrics_enabled": False})
    for answer in ("first", Random(1).randbytes(2**16).hex(), "third"):
        reporter.record(question="?", retrieved_documents=["text"], answer=answer)
    assert reporter.flush(30)
    reporter.record(question="?", retrieved_documents=["text"], answer="later")
    assert reporter.close(30)
    assert (reporter.sent, reporter.dropped) == (3, 1)
