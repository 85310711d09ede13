"""Guards the store against too many dead letters from Kafka, and mirrors dead letters to a topic.

If nearly every message is invalid, the settings are wrong rather than the messages, so reading stops.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Sequence

from kafka import errors
from typing_extensions import override

from monitor.core.batch import Batch, Tally
from monitor.core.errors import Fatal, MonitorError, WrongSettings
from monitor.core.message import DeadLetter, Position
from monitor.core.model import Interaction
from monitor.core.ports import Store
from monitor.core.settings.kafka import KafkaSettings
from monitor.core.trace import Collected
from monitor.ingest.kafka.client import kafka_errors
from monitor.ingest.kafka.producer import SECONDS, close_producer, connected_producer, partitions_for

log = logging.getLogger(__name__)
WINDOW = 1_000  # messages of a topic for the ratio
_ENOUGH = 100  # fewer messages give no ratio
_SETTING = "MONITOR_KAFKA__DEAD_LETTER_TOPIC"


class DeadLetterLimit:
    """Limits consecutive dead letters per partition, and their share of the last `WINDOW` messages per topic.

    `consecutive` 0 and `ratio` 1 mean no limit.
    """

    def __init__(self, *, consecutive: int, ratio: float) -> None:
        self._consecutive = consecutive
        self._ratio = ratio
        self._in_a_row: Counter[tuple[str, int]] = Counter()
        self._counted: dict[tuple[str, int], int] = {}  # the last offset that was counted
        self._topic_ids: dict[tuple[str, int], str] = {}
        self._recent: defaultdict[str, deque[bool]] = defaultdict(lambda: deque(maxlen=WINDOW))

    def check(self, batch: Batch) -> None:
        """Counts a batch before it is stored.

        Raises:
            Fatal: too many messages are dead letters; the message names them and says what to do.
        """
        self._forget_other_logs(batch)
        problems = {letter.message.position: f"{letter.path}: {letter.problem}" for letter in batch.dead_letters}
        for at in sorted({*_read(batch), *problems}, key=lambda at: (at.topic, at.partition, at.offset)):
            if at.offset <= self._counted.get((at.topic, at.partition), -1):
                continue  # counted before; the partition is read again
            self._counted[at.topic, at.partition] = at.offset
            invalid = at in problems
            self._recent[at.topic].append(invalid)
            in_a_row = self._in_a_row[at.topic, at.partition] = (
                self._in_a_row[at.topic, at.partition] + 1 if invalid else 0
            )
            if self._consecutive and in_a_row >= self._consecutive:
                raise _stop(
                    f"{in_a_row} messages in a row of {at.topic}/{at.partition}",
                    at,
                    problems[at],
                    "MONITOR_KAFKA__MAX_CONSECUTIVE_DEAD=0",
                )
        for topic, at in {at.topic: at for at in problems}.items():
            recent = self._recent[topic]
            if len(recent) >= _ENOUGH and sum(recent) > self._ratio * len(recent):
                raise _stop(
                    f"{sum(recent)} of the last {len(recent)} messages of {topic}",
                    at,
                    problems[at],
                    "MONITOR_KAFKA__MAX_DEAD_RATIO=1",
                )

    def _forget_other_logs(self, batch: Batch) -> None:
        """Offsets of a topic that was created again, or cut short, are not those that were counted before."""
        for o in batch.offsets:
            known = self._topic_ids.get((o.topic, o.partition), o.topic_id)
            if o.topic_id != known or (o.expected is not None and o.first < o.expected):
                self._counted.pop((o.topic, o.partition), None)
            self._topic_ids[o.topic, o.partition] = o.topic_id


def _read(batch: Batch) -> Iterator[Position]:
    """Where the messages stand that could be read, scored or not: an interaction each, or spans."""
    interactions = (*(a.interaction for a in batch.assessments), *batch.pending, *batch.unscored)
    found: tuple[Interaction | Collected, ...] = (*interactions, *batch.collected)
    yield from (one.position for one in found if one.position is not None)


def _stop(how_many: str, at: Position, problem: str, setting: str) -> Fatal:
    return Fatal(
        f"{how_many} cannot be interactions, so we may be reading them wrongly; stopped before storing them.\n"
        f"The last one, at offset {at.offset}: {problem}\n"
        "Look at MONITOR_INGEST__DIALECT and MONITOR_KAFKA__BY_TOPIC. If they are as bad as that, "
        f"{setting} lets them through to the dead letters."
    )


class DeadLetterMirror:
    """Copies dead letters to a topic unchanged, with their position and problem in headers `monitor.…`.

    Each is there, at least once, before its batch is stored; readers identify it by topic, partition and offset.

    Raises:
        WrongSettings: the topic does not exist, or is one of the topics that are read.
    """

    def __init__(self, kafka: KafkaSettings, topic: str) -> None:
        self._topic = topic
        if kafka.reads(topic):
            raise WrongSettings(f"{_SETTING}: {topic} is one of the topics to read; its dead letters would loop")
        self._producer = connected_producer(kafka, compression_type="lz4")
        try:
            partitions_for(self._producer, topic, setting=_SETTING)
        except MonitorError:
            self.close()
            raise

    def send(self, letters: Sequence[DeadLetter]) -> None:
        """Returns when the brokers have all letters, except those too long for the topic.

        Raises:
            Retriable: the brokers do not take them for now; some may be there.
            Fatal: the brokers refuse them for good.
        """
        with kafka_errors():
            sent = [
                self._producer.send(self._topic, letter.message.value, key=letter.message.key, headers=_headers(letter))
                for letter in letters
            ]
            for one in sent:
                try:
                    one.get(timeout=SECONDS)
                except errors.MessageSizeTooLargeError as error:  # the database has it in any case
                    log.error("a dead letter is too long for %s: %s", self._topic, error)  # noqa: TRY400  one line will do

    def close(self) -> None:
        close_producer(self._producer)


def _headers(letter: DeadLetter) -> list[tuple[str, bytes]]:
    at = letter.message.position
    own = {"topic": at.topic, "partition": at.partition, "offset": at.offset}
    own |= {"path": letter.path, "problem": letter.problem}
    return [*letter.message.headers, *((f"monitor.{name}", str(value).encode()) for name, value in own.items())]


class DeadLetterGate(Store):
    """A `Store` in front of another: passes on batches within the limit, after mirroring their dead letters."""

    def __init__(self, store: Store, limit: DeadLetterLimit, mirror: DeadLetterMirror | None) -> None:
        self._store = store
        self._limit = limit
        self._mirror = mirror
        self._counted: Batch | None = None  # the same batch comes again after a failure to store it
        self._mirrored: Batch | None = None

    @override
    def write(self, batch: Batch) -> Tally:
        """Also raises Fatal if there are too many dead letters."""
        if batch is not self._counted:
            self._limit.check(batch)
            self._counted = batch
        if self._mirror is not None and batch.dead_letters and batch is not self._mirrored:
            self._mirror.send(batch.dead_letters)
            self._mirrored = batch
        return self._store.write(batch)
