"""Witnesses keep checkpoints out of reach of the database's owner: a file, a Kafka topic, a Slack channel."""

from __future__ import annotations

import os
from pathlib import Path

from kafka import KafkaProducer
from typing_extensions import override

from monitor.alert.receivers.slack.client import SlackClient, WebhookPost
from monitor.alert.receivers.slack.errors import Refused
from monitor.app.audit.sealer import Witness
from monitor.core.errors import Fatal, WrongSettings
from monitor.core.settings.alert import SlackSettings
from monitor.core.settings.sections import KafkaSettings
from monitor.ingest.kafka.client import client_options, kafka_errors

_SECONDS = 30.0  # for a broker to take a note
_BLOCK_MS = 5_000


class FileWitness(Witness):
    """Appends each note to a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @override
    def publish(self, note: str) -> None:
        """Returns when the note is on disk.

        Raises:
            Fatal: the file cannot be written.
        """
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{note}\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise Fatal(f"{self._path}: {error.strerror}") from None


class KafkaWitness(Witness):
    """Sends each note to a topic."""

    def __init__(self, kafka: KafkaSettings, topic: str) -> None:
        self._kafka = kafka
        self._topic = topic

    @override
    def publish(self, note: str) -> None:
        """Returns when the brokers have the note; raises Retriable or Fatal."""
        with kafka_errors():
            producer = KafkaProducer(
                **client_options(self._kafka),
                acks="all",
                allow_auto_create_topics=False,
                metrics_enabled=False,
                max_block_ms=_BLOCK_MS,
            )
            try:
                producer.send(self._topic, note.encode()).get(timeout=_SECONDS)
            finally:
                producer.close(timeout=1)


class SlackWitness(Witness):
    """Posts each note to the Slack channel or webhook of the alerts.

    Raises:
        WrongSettings: neither is set.
    """

    def __init__(self, slack: SlackSettings) -> None:
        self._post: SlackClient | WebhookPost
        if slack.bot_token is not None and slack.channel is not None:
            self._post = SlackClient(token=slack.bot_token.get_secret_value(), api_url=slack.api_url)
        elif slack.webhook_url is not None:
            self._post = WebhookPost(slack.webhook_url.get_secret_value())
        else:
            raise WrongSettings(
                "MONITOR_AUDIT__WITNESS_SLACK needs MONITOR_SLACK__BOT_TOKEN and …_CHANNEL, or a webhook"
            )
        self._channel = slack.channel

    @override
    def publish(self, note: str) -> None:
        """Returns when Slack has the note; raises Retriable or Fatal."""
        text = f"Checkpoint of the audit trail\n```{note}```"
        try:
            if isinstance(self._post, WebhookPost):
                self._post.post({"text": text})
            else:
                self._post.write("chat.postMessage", {"channel": self._channel, "text": text})
        except Refused as refused:
            raise refused.named() from None
