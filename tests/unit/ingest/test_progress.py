"""How far was stored in time, whatever order looks, polls and commits come in."""

from __future__ import annotations

import pytest

from monitor.core.message import Offset, Progress
from monitor.ingest.progress import FileProgress, PartitionProgress
from tests.factories.answers import NOON, at

ONE, OTHER = ("rag", 0), ("rag", 1)
SOME = (Offset(topic="a.jsonl#1-0", partition=0, expected=None, next=10),)


@pytest.fixture
def reading():
    reading = PartitionProgress()
    reading.placed(ONE, 5)
    return reading


@pytest.fixture
def files():
    return FileProgress()


def offset(reached, *, arrived=None, partition=ONE):
    return Offset(topic=partition[0], partition=partition[1], expected=0, next=reached, arrived=arrived)


def one(through, behind=0, partition=ONE):
    return Progress(topic=partition[0], partition=partition[1], through=through, behind=behind)


def test_nothing_is_known_before_the_first_look(reading):
    assert reading.progress() == ()


def test_an_idle_partition_is_caught_up_at_each_look(reading):
    reading.looked(at(0), {ONE: 5})
    assert reading.progress() == (one(at(0)),)
    reading.looked(at(1), {ONE: 5})
    assert reading.progress() == (one(at(1)),)


def test_a_look_counts_once_its_end_is_stored_and_not_before(reading):
    reading.looked(at(0), {ONE: 8})
    reading.stored([offset(7)])
    assert reading.progress() == ()
    reading.stored([offset(8)])
    assert reading.progress() == (one(at(0)),)


def test_who_never_reaches_the_newest_end_still_passes_earlier_ones(reading):
    for minute in range(4):
        reading.looked(at(minute), {ONE: 10 + 10 * minute})
        reading.stored([offset(8 + 10 * minute)])
    assert reading.progress() == (one(at(2), behind=2),)


def test_while_behind_the_last_message_that_was_stored_says_how_far(reading):
    reading.looked(at(100), {ONE: 1_000})
    reading.stored([offset(50, arrived=at(3))])
    reading.stored([offset(60, arrived=at(1))])  # of another producer's clock
    assert reading.progress() == (one(at(3), behind=940),)


def test_a_clock_that_was_ahead_and_is_set_right_hides_no_lag(reading):
    reading.looked(at(1_000), {ONE: 5})
    reading.looked(at(1_001), {ONE: 8})
    reading.looked(at(0), {ONE: 9})  # set right
    reading.stored([offset(8)])
    assert reading.progress() == (one(at(0), behind=1),)
    reading.stored([offset(9)])
    reading.looked(at(7), {ONE: 20})
    assert reading.progress() == (one(at(0), behind=11),)


def test_partitions_that_went_elsewhere_are_not_told_of(reading):
    reading.placed(OTHER, 0)
    reading.looked(NOON, {ONE: 5, OTHER: 0})
    reading.forget([ONE])
    reading.stored([offset(9)])
    reading.looked(at(1), {ONE: 9})
    assert reading.progress() == (one(NOON, partition=OTHER),)


def test_a_partition_that_is_placed_anew_is_known_anew(reading):
    reading.looked(at(0), {ONE: 5})
    reading.placed(ONE, 0)  # the topic was made anew
    assert reading.progress() == ()
    reading.looked(at(1), {ONE: 3})
    reading.stored([offset(3)])
    assert reading.progress() == (one(at(1)),)


# files


def file(through, behind=0, name="a.jsonl"):
    return Progress(topic=name, partition=0, through=through, behind=behind)


def test_a_file_at_its_end_is_caught_up_when_what_was_given_out_is_stored(files):
    files.at_end("a.jsonl", at(0))
    files.handed_on(SOME)
    assert files.progress() == ()
    files.stored(SOME)
    assert files.progress() == (file(at(0)),)


def test_an_idle_file_stays_caught_up(files):
    for minute in range(3):
        files.at_end("a.jsonl", at(minute))
        files.handed_on(())
        assert files.progress() == (file(at(minute)),)


def test_what_is_seen_while_a_batch_is_on_its_way_waits_for_it(files):
    files.at_end("a.jsonl", at(0))
    files.handed_on(())
    files.at_end("a.jsonl", at(1))
    files.handed_on(SOME)
    for minute in range(2, 1_000):
        files.at_end("a.jsonl", at(minute))
        files.handed_on(())
    assert files.progress() == (file(at(0), behind=1),)
    assert len(files._ahead) == 1
    files.stored(SOME)
    assert files.progress() == (file(at(999)),)


def test_of_two_files_only_the_one_that_was_read_to_its_end_is_caught_up(files):
    for name in ("a.jsonl", "b.jsonl"):
        files.at_end(name, at(0))
    files.handed_on(())
    files.at_end("b.jsonl", at(1))
    files.handed_on(SOME)
    files.stored(SOME)
    assert files.progress() == (file(at(0), behind=1), file(at(1), name="b.jsonl"))


def test_batches_land_in_their_order(files):
    for minute in range(3):
        files.at_end("a.jsonl", at(minute))
        files.handed_on(SOME)
    for minute in range(3):
        files.stored(SOME)
        assert files.progress() == (file(at(minute), behind=int(minute < 2)),)
