from __future__ import annotations

import pytest
from kafka import errors

from monitor.core.errors import Fatal, Retriable
from monitor.ingest.kafka import client as kafka
from monitor.ingest.kafka.client import topics_seen


class Consumer:
    """Refuses the first questions, each in its way."""

    def __init__(self, *refusals: Exception) -> None:
        self.refusals = list(refusals)

    def topics(self) -> set[str]:
        if self.refusals:
            raise self.refusals.pop(0)
        return {"rag"}


def test_a_broker_that_is_gone_does_not_hide_the_topics_that_another_knows():
    assert topics_seen(Consumer(errors.KafkaConnectionError("refused"), errors.NodeNotReadyError())) == {"rag"}


def test_topics_are_not_asked_for_without_end(monkeypatch):
    monkeypatch.setattr(kafka, "_BOOTSTRAP_MS", 0)
    with pytest.raises(Retriable, match="refused"):
        topics_seen(Consumer(errors.KafkaConnectionError("refused")))


def test_a_refusal_that_waiting_does_not_mend_is_not_waited_for():
    with pytest.raises(Fatal):
        topics_seen(Consumer(errors.TopicAuthorizationFailedError("rag")))
