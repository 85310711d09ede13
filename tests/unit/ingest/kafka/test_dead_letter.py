"""When so much is invalid that it is we who must be wrong."""

from __future__ import annotations

import pytest
from kafka.errors import KafkaTimeoutError

from monitor.core.errors import Fatal, Retriable
from monitor.core.message import Offset, Position
from monitor.core.settings.kafka import KafkaSettings
from monitor.core.trace import Collected
from monitor.ingest.kafka import dead_letter
from monitor.ingest.kafka.dead_letter import WINDOW, DeadLetterGate, DeadLetterLimit, DeadLetterMirror
from monitor.simulate.fakes.flow import MemoryStore
from tests.factories.answers import NOON, a_batch, a_dead_letter, a_message, an_assessment, an_interaction


def batch(pattern, *, begin=0, topic="rag", partition=0, **offset_of):
    """One message a letter: `.` becomes an interaction, `x` does not; `offset_of` are more fields of its offset."""
    alive, dead = [], []
    for offset, kind in enumerate(pattern, begin):
        at = Position(topic=topic, partition=partition, offset=offset)
        if kind == ".":
            alive.append(an_assessment(id=str(offset), position=at))
        else:
            dead.append(a_dead_letter(message=a_message(b"no", position=at), path="answer", problem="is missing"))
    offset = Offset(
        topic=topic,
        partition=partition,
        next=begin + len(pattern),
        begin=begin,
        **{"expected": begin or None, **offset_of},
    )
    return a_batch(*alive, dead_letters=tuple(dead), offsets=(offset,))


def checked(limit, *batches):
    for one in batches:
        limit.check(one)


def test_so_many_in_a_row_stop_us_and_the_message_says_what_to_do():
    limit = DeadLetterLimit(consecutive=5, ratio=1)
    checked(limit, batch("xxxx.xxxx"))
    with pytest.raises(Fatal, match=r"5 messages in a row of rag/0") as raised:
        limit.check(batch("x", begin=9))
    assert "offset 9: answer: is missing" in str(raised.value)
    assert "MONITOR_INGEST__DIALECT" in str(raised.value)
    assert "MONITOR_KAFKA__MAX_CONSECUTIVE_DEAD=0" in str(raised.value)


def test_a_row_is_counted_in_the_order_of_offsets_and_for_each_partition():
    limit = DeadLetterLimit(consecutive=3, ratio=1)
    checked(limit, batch("x.x"), batch("x", partition=1), batch("x", partition=1, begin=1), batch(".", begin=3))
    with pytest.raises(Fatal, match="rag/1"):
        limit.check(batch("x", partition=1, begin=2))


def test_messages_that_come_again_are_counted_once():
    limit = DeadLetterLimit(consecutive=5, ratio=1)
    checked(limit, *[batch("xxxx")] * 10)
    with pytest.raises(Fatal):
        limit.check(batch("xxxxx"))


@pytest.mark.parametrize(
    "anew",
    [
        {"topic_id": "b", "expected": 500},
        {"topic_id": "b", "expected": 0},  # another consumer read its beginning meanwhile, and gave it back
        {"topic_id": "a", "expected": 500},  # the log was cut short, or the broker is too old to tell
    ],
)
def test_a_topic_that_was_created_again_is_counted_from_its_beginning(anew):
    limit = DeadLetterLimit(consecutive=5, ratio=1)
    checked(limit, batch("." * 500, topic_id="a"), batch("xxxx", **anew))
    with pytest.raises(Fatal, match=r"5 messages in a row of rag/0"):
        limit.check(batch("x", begin=4, topic_id=anew["topic_id"]))


def test_a_large_share_of_the_last_messages_stops_us():
    limit = DeadLetterLimit(consecutive=0, ratio=0.5)
    checked(limit, batch("x." * 100))  # exactly half
    with pytest.raises(Fatal, match=r"101 of the last 201 messages of rag"):
        limit.check(batch("x", begin=200))


def test_a_share_of_few_messages_says_nothing():
    checked(DeadLetterLimit(consecutive=0, ratio=0.1), batch("x" * 99))


def test_only_the_last_messages_count_for_the_share():
    limit = DeadLetterLimit(consecutive=0, ratio=0.5)
    checked(limit, batch("." * WINDOW), batch("x" * (WINDOW // 2), begin=WINDOW))
    with pytest.raises(Fatal, match=f"{WINDOW // 2 + 1} of the last {WINDOW}"):
        limit.check(batch("x", begin=2 * WINDOW))


def test_topics_are_told_apart():
    limit = DeadLetterLimit(consecutive=0, ratio=0.5)
    checked(limit, batch("." * 1_000, topic="good"), batch("x" * 99, topic="bad"))
    with pytest.raises(Fatal, match="of bad"):
        limit.check(batch("x", topic="bad", begin=99))


@pytest.mark.parametrize("kind", ["collected", "pending", "unscored"])
def test_messages_that_are_read_but_not_scored_count_as_valid(kind):
    """As in a topic of spans, of turns without retrieval, or of answers while the provider is down."""

    def nine_valid_and_one_dead(begin):
        places = [Position(topic="rag", partition=0, offset=offset) for offset in range(begin, begin + 9)]
        if kind == "collected":
            read = tuple(Collected(received_at=NOON, position=at) for at in places)
        else:
            read = tuple(an_interaction(id=str(at.offset), position=at) for at in places)
        dead = a_dead_letter(message=a_message(b"no", topic="rag", offset=begin + 9))
        return a_batch(dead_letters=(dead,), **{kind: read})

    limit = DeadLetterLimit(consecutive=5, ratio=0.5)
    checked(limit, *(nine_valid_and_one_dead(begin) for begin in range(0, 2_000, 10)))
    with pytest.raises(Fatal, match=r"5 messages in a row of rag/0"):
        limit.check(batch("xxxx", begin=2_000))


def test_there_may_be_no_limit_at_all():
    checked(DeadLetterLimit(consecutive=0, ratio=1), batch("x" * 3_000))


class Mirror:
    def __init__(self, *failures):
        self.sent, self.failures = [], list(failures)

    def send(self, letters):
        if self.failures:
            raise self.failures.pop(0)
        self.sent.append(letters)


def test_a_batch_over_the_limit_is_neither_mirrored_nor_stored():
    store, mirror = MemoryStore(), Mirror()
    gate = DeadLetterGate(store, DeadLetterLimit(consecutive=2, ratio=1), mirror)
    with pytest.raises(Fatal):
        gate.write(batch("xx"))
    assert (store.dead_letters, mirror.sent) == ({}, [])


def test_a_batch_that_is_tried_again_is_counted_and_mirrored_once():
    store, mirror = MemoryStore(failures=[Retriable("away"), Retriable("away")]), Mirror(Retriable("no broker"))
    gate = DeadLetterGate(store, DeadLetterLimit(consecutive=2, ratio=1), mirror)
    one = batch("x.")
    for _ in range(3):
        with pytest.raises(Retriable):
            gate.write(one)
    assert gate.write(one).dead == 1
    assert mirror.sent == [one.dead_letters]


def test_a_batch_without_dead_letters_is_not_mirrored():
    mirror = Mirror()
    DeadLetterGate(MemoryStore(), DeadLetterLimit(consecutive=2, ratio=1), mirror).write(batch(".."))
    assert mirror.sent == []


class Producer:
    """Holds a record that no broker takes: like the client it cannot be closed before its sender gives up."""

    def __init__(self):
        self.waiting, self.closed, self._sender = True, False, self

    def force_close(self):
        self.waiting = False

    def close(self, timeout):
        if self.waiting:
            raise KafkaTimeoutError("Timeout waiting for future")
        self.closed = True


def test_a_mirror_is_closed_although_no_broker_takes_its_letters(monkeypatch):
    producer = Producer()
    monkeypatch.setattr(dead_letter, "connected_producer", lambda *_, **__: producer)
    monkeypatch.setattr(dead_letter, "partitions_for", lambda *_, **__: 1)
    DeadLetterMirror(KafkaSettings(bootstrap_servers=("broker:9092",), topics=("rag",)), "dead").close()
    assert producer.closed
