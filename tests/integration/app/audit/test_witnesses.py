"""Checkpoints where the database's owner cannot take them back: a real Kafka, and Slack's API as scripted."""

from __future__ import annotations

import pytest
from kafka import KafkaConsumer, KafkaProducer
from pydantic import SecretStr

from monitor.app.audit.witnesses import KafkaWitness, SlackWitness
from monitor.audit.key import Signer
from monitor.audit.note import Checkpoint, opened, signed
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.core.settings.alert import SlackSettings
from monitor.core.settings.sections import KafkaSettings
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name
from tests.servers.slack.server import BROKEN, CHANNEL, TOKEN
from tests.servers.slack.serving import slack_server

SIGNER = Signer("monitor", bytes(range(32)))
CHECKPOINT = Checkpoint(origin="monitor", size=3, root=bytes(32))
NOTE = signed(CHECKPOINT, SIGNER)
KEY = SIGNER.verifier_key


def test_a_topic_gives_back_the_note_that_was_signed(kafka):
    topic = new_topic_name()
    create_topic(kafka, topic)
    KafkaWitness(KafkaSettings(bootstrap_servers=(kafka,)), topic).publish(NOTE, KEY)
    consumer = KafkaConsumer(
        topic, bootstrap_servers=kafka, auto_offset_reset="earliest", consumer_timeout_ms=20_000, metrics_enabled=False
    )
    try:
        message = next(iter(consumer))
    finally:
        consumer.close()
    assert opened(message.value.decode(), KEY) == CHECKPOINT
    assert message.headers == [("key", KEY.encode())]


def test_what_a_topic_holds_is_read_back_in_order_and_of_much_the_last(kafka):
    topic = new_topic_name()
    create_topic(kafka, topic, partitions=3)
    witness = KafkaWitness(KafkaSettings(bootstrap_servers=(kafka,)), topic)
    assert (witness.read().notes, witness.read().at) == ([], None)
    notes = [signed(Checkpoint(origin="monitor", size=size, root=bytes(32)), SIGNER) for size in range(1, 6)]
    for note in notes:
        witness.publish(note, KEY)
    with KafkaProducer(bootstrap_servers=[kafka], metrics_enabled=False) as producer:
        for number in range(400):
            producer.send(topic, f"of another log {number}".encode())
    whole, recent = witness.read(), witness.read(recent=True)
    assert [note for note in whole.notes if note in notes] == notes
    assert len(whole.notes) == 405
    assert len(recent.notes) == 300
    assert whole.at is not None


def test_a_topic_that_is_not_there_is_said(kafka):
    with pytest.raises((Retriable, Fatal)):
        KafkaWitness(KafkaSettings(bootstrap_servers=(kafka,)), new_topic_name()).publish(NOTE, KEY)


@pytest.mark.parametrize("by_webhook", [False, True])
def test_slack_shows_the_note_that_was_signed(by_webhook):
    with slack_server() as slack:
        settings = (
            SlackSettings(webhook_url=SecretStr(slack.hook))
            if by_webhook
            else SlackSettings(bot_token=SecretStr(TOKEN), channel=CHANNEL, api_url=slack.url)
        )
        witness = SlackWitness(settings)
        slack.script.append(BROKEN)
        with pytest.raises(Retriable):
            witness.publish(NOTE, KEY)
        witness.publish(NOTE, KEY)
        (message,) = slack.roots()
    _, shown, after = message.payload["text"].split("```")
    assert opened(shown, KEY) == CHECKPOINT
    assert after == f"\nPublic key of the log: `{KEY}`"


def test_slack_without_a_place_to_post_to_is_a_wrong_setting():
    with pytest.raises(WrongSettings, match="WITNESS_SLACK"):
        SlackWitness(SlackSettings())
