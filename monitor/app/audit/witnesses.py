"""Witnesses keep checkpoints out of reach of the database's owner: a file, a Kafka topic, a Slack channel."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from operator import attrgetter
from pathlib import Path
from time import monotonic
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from typing_extensions import override

from monitor.alert.receivers.slack.client import SlackClient, WebhookPost
from monitor.alert.receivers.slack.errors import Refused
from monitor.app.audit.sealer import Witness, notes_at, notes_in
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.core.settings.alert import SlackSettings
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import connected, kafka_errors
from monitor.ingest.kafka.producer import SECONDS, close_producer, connected_producer
from monitor.store.audit.recovery import WitnessNotes

_SECONDS = 30.0  # for a broker to give the next note
_RECENT = 100  # notes of each partition
_RECENT_BYTES = 2**15  # of a file: some 200 notes


class FileWitness(Witness):
    """Appends each note to a file, which belongs to one log."""

    shared = False

    def __init__(self, path: Path) -> None:
        self._path = path

    @override
    def publish(self, note: str, key: str) -> None:
        """Returns when the note is on disk; a public key that is new goes to a file beside it, whose name ends in .key.

        Raises:
            Fatal: a file cannot be written.
        """
        keys = self._path.with_name(f"{self._path.name}.key")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            known = keys.read_text(encoding="utf-8", errors="replace").splitlines() if keys.exists() else []
            if key not in known:
                _append(keys, f"{key}\n", after="\n")
            _append(self._path, f"{note}\n", after="\n\n")
        except OSError as error:
            raise Fatal(f"{self._path}: {error.strerror}") from None

    @override
    def read(self, *, recent: bool = False) -> WitnessNotes:
        """The notes of the file, none where there is no file.

        Raises:
            WrongSettings: the file cannot be read.
        """
        try:
            changed = datetime.fromtimestamp(self._path.stat().st_mtime, UTC)
            notes = self._last_notes() if recent else list(notes_at(self._path))
        except FileNotFoundError:
            return WitnessNotes(name=str(self._path), notes=())
        except (OSError, UnicodeDecodeError) as error:
            raise WrongSettings(f"{self._path}: cannot be read: {error}") from None
        return WitnessNotes(name=str(self._path), notes=notes, at=changed)

    def _last_notes(self) -> list[str]:
        with self._path.open("rb") as file:
            start = max(0, file.seek(0, os.SEEK_END) - _RECENT_BYTES)
            file.seek(start)
            notes = list(notes_in(file.read().decode(errors="replace").splitlines(keepends=True)))
        return notes[1:] if start else notes  # the first one may begin before `start`


def _append(path: Path, text: str, *, after: str) -> None:
    """Appends the text whole or not at all; `after` ends what is there, of which a power cut may have left a part."""
    with path.open("ab+", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - len(after)))
        there = file.read()
        ends = next(count for count in range(len(after) + 1) if not end or there.endswith(after[count:].encode()))
        content, written = (after[:ends] + text).encode(), 0
        try:
            while written < len(content):
                written += file.write(content[written:])
            os.fsync(file.fileno())
        except OSError:  # the disk is full: half a note would spoil the next one
            with suppress(OSError):
                if file.seek(0, os.SEEK_END) == end + written:  # otherwise another process has appended meanwhile
                    file.truncate(end)
            raise


class KafkaWitness(Witness):
    """Sends each note to a topic, in which other logs may have theirs; the header `key` has the public key."""

    shared = True

    def __init__(self, kafka: KafkaSettings, topic: str) -> None:
        self._kafka = kafka
        self._topic = topic

    @override
    def publish(self, note: str, key: str) -> None:
        """Returns when the brokers have the note; raises Retriable or Fatal."""
        with kafka_errors():
            producer = connected_producer(self._kafka)
            try:
                producer.send(self._topic, note.encode(), headers=[("key", key.encode())]).get(timeout=SECONDS)
            finally:
                close_producer(producer)

    @override
    def read(self, *, recent: bool = False) -> WitnessNotes:
        """The messages of the topic in the order of their times; raises Retriable or Fatal."""
        consumer = connected(self._kafka)
        try:
            with kafka_errors():
                messages = sorted(self._messages(consumer, recent=recent), key=attrgetter("timestamp"))
        finally:
            consumer.close(autocommit=False, timeout_ms=1_000)
        return WitnessNotes(
            name=f"Kafka topic {self._topic}",
            notes=[message.value.decode(errors="replace") for message in messages if message.value],
            at=datetime.fromtimestamp(messages[-1].timestamp / 1_000, UTC) if messages else None,
        )

    def _messages(self, consumer: KafkaConsumer, *, recent: bool) -> Iterator[Any]:
        places = [TopicPartition(self._topic, number) for number in consumer.partitions_for_topic(self._topic) or ()]
        consumer.assign(places)
        first, ends = consumer.beginning_offsets(places), consumer.end_offsets(places)
        for place in places:
            consumer.seek(place, max(first[place], ends[place] - _RECENT) if recent else first[place])
        until = monotonic() + _SECONDS
        while any(consumer.position(place) < ends[place] for place in places):
            found = list(chain.from_iterable(consumer.poll(timeout_ms=500).values()))
            yield from found
            if found:
                until = monotonic() + _SECONDS
            elif monotonic() > until:
                raise Retriable(f"kafka: the topic {self._topic} gave nothing for {_SECONDS:.0f} s")


class SlackWitness(Witness):
    """Posts each note to the Slack channel or webhook of the alerts, and cannot give it back.

    Raises:
        WrongSettings: neither is set.
    """

    shared = True

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
    def publish(self, note: str, key: str) -> None:
        """Returns when Slack has the note and the public key; raises Retriable or Fatal."""
        text = f"Checkpoint of the audit trail\n```{note}```\nPublic key of the log: `{key}`"
        try:
            if isinstance(self._post, WebhookPost):
                self._post.post({"text": text})
            else:
                self._post.write("chat.postMessage", {"channel": self._channel, "text": text})
        except Refused as refused:
            raise refused.named() from None

    @override
    def read(self, *, recent: bool = False) -> WitnessNotes:
        return WitnessNotes(name="Slack", notes=(), readable=False)
