"""What observers are told of a batch is bounded, holds no text, and takes only well-formed traces of producers."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from monitor.app.batch_attributes import LONGEST, MOST_IDS, MOST_PRODUCERS, arrival, outcome, producers
from monitor.core.batch import Batch, Tally
from monitor.core.message import Message, Offset, Position
from tests.factories.answers import an_interaction

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


def message(*headers: tuple[str, bytes], topic: str = "answers", partition: int = 0, offset: int = 7) -> Message:
    return Message(
        value=b"{}",
        position=Position(topic=topic, partition=partition, offset=offset),
        received_at=datetime(2026, 3, 1, tzinfo=UTC),
        headers=headers,
        size=2,
    )


def traced(value: bytes) -> Message:
    return message(("traceparent", value))


def test_distinct_producers_are_named_once_and_in_order() -> None:
    other = PARENT.replace(SPAN, "1" * 16)
    assert producers([traced(PARENT.encode()), traced(other.encode()), traced(PARENT.encode()), message()]) == (
        PARENT,
        other,
    )


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"00",
        b"\xff\xfe",
        f"ff-{TRACE}-{SPAN}-01".encode(),
        f"00-{'0' * 32}-{SPAN}-01".encode(),
        f"00-{TRACE}-{'0' * 16}-01".encode(),
        f"00-{TRACE.upper()}-{SPAN}-01".encode(),
        f"{PARENT}-more".encode(),
        f"{PARENT}\n".encode(),
    ],
)
def test_a_malformed_traceparent_is_left_out(value: bytes) -> None:
    assert producers([traced(value)]) == ()


def test_a_later_version_is_read_as_far_as_this_one_goes() -> None:
    assert producers([traced(f"01-{TRACE}-{SPAN}-01-more".encode())]) == (PARENT,)


def test_two_traceparents_of_one_message_are_none() -> None:
    assert producers([message(("traceparent", PARENT.encode()), ("traceparent", PARENT.encode()))]) == ()


def test_the_number_of_producers_is_bounded() -> None:
    many = [traced(f"00-{TRACE}-{number:016x}-01".encode()) for number in range(1, 2 * MOST_PRODUCERS)]
    assert len(producers(many)) == MOST_PRODUCERS


def test_partition_and_offset_are_told_of_a_batch_from_one_partition_only() -> None:
    offset = Offset(topic="answers", partition=0, expected=7, next=9, topic_id="abc")
    one = arrival([message(offset=7), message(offset=8)], [offset])
    assert (one["topic"], one["partition"], one["offset"], one["broker"]) == ("answers", 0, 7, "kafka")
    two = arrival([message(partition=0), message(partition=1)], [])
    assert two["topic"] == "answers"
    assert "partition" not in two
    assert "broker" not in two
    assert "topic" not in arrival([message(topic="a"), message(topic="b")], [])


def test_an_outcome_names_apps_and_interactions_and_no_text() -> None:
    marker = "a text of the chatbot"
    pending = tuple(
        an_interaction(id=f"{number}" * 300, app="support", question=marker, answer=marker)
        for number in range(MOST_IDS + 5)
    )
    found = outcome(Batch(assessments=(), dead_letters=(), received=len(pending), pending=pending), Tally(pending=55))
    ids = found["interaction_ids"]
    assert isinstance(ids, list)
    assert len(ids) == MOST_IDS
    assert max(map(len, ids)) == LONGEST
    assert (found["apps"], found["pending"]) == (["support"], 55)
    assert marker not in str(found)
