"""A followed file that is renamed and replaced."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.ingest.follow import DRAIN
from tests.rig.ingest.following import append


def test_a_renamed_file_is_read_to_its_end_before_the_new_one(path, reader):
    append(path, b"one\n")
    assert reader.read() == [b"one"]
    append(path, b"two\n")
    path.rename(path.with_suffix(".1"))
    append(path, b"three\n")
    assert reader.read() == [b"two", b"three"]


def test_a_renamed_file_may_be_written_to_until_the_new_one_is_there(path, reader):
    append(path, b"one\n")
    reader.read()
    path.rename(path.with_suffix(".1"))
    assert reader.read() == []
    append(path.with_suffix(".1"), b"two\n")
    assert reader.read() == [b"two"]
    append(path, b"three\n")
    assert reader.read() == [b"three"]


def test_the_last_line_of_a_renamed_file_needs_no_end_once_nobody_writes_to_it(path, reader):
    append(path, b"one\ntwo")
    assert reader.read() == [b"one"]
    path.rename(path.with_suffix(".1"))
    append(path, b"three\n")
    assert reader.read() == [b"three"]
    reader.now += DRAIN - timedelta(seconds=1)
    assert reader.read() == []
    reader.now += timedelta(seconds=1)
    assert reader.read() == [b"two"]
    assert sorted(reader.known.values()) == [6, 7]


@pytest.mark.parametrize("jump", [-2 * DRAIN, 2 * DRAIN])
def test_a_clock_that_is_set_neither_hastens_nor_delays_the_end_of_a_renamed_file(path, reader, jump):
    append(path, b"one\ntwo")
    assert reader.read() == [b"one"]
    path.rename(path.with_suffix(".1"))
    append(path, b"three\n")
    assert reader.read() == [b"three"]
    reader.clock_set_by = jump
    assert reader.read() == []
    reader.now += DRAIN
    assert reader.read() == [b"two"]


def test_a_renamed_file_is_read_as_long_as_somebody_writes_to_it(path, reader):
    append(path, b"one\n")
    reader.read()
    with path.open("ab", buffering=0) as old:
        path.rename(path.with_suffix(".1"))
        append(path, b"new 1\n")
        assert reader.read() == [b"new 1"]
        for number in range(5):
            old.write(b"late %d" % number)
            assert reader.read() == []
            reader.now += DRAIN - timedelta(seconds=1)
            old.write(b".\n")
            append(path, b"new\n")
            assert reader.read() == [b"late %d." % number, b"new"]
            reader.now += DRAIN - timedelta(seconds=1)
        reader.now += DRAIN
        old.write(b"last\n")  # nobody polled for long: what is there is read before the file is given up
        assert reader.read() == [b"last"]


def test_a_renamed_file_is_closed_once_nobody_writes_to_it(path, reader):
    append(path, b"one\n")
    reader.read()
    path.rename(path.with_suffix(".1"))
    append(path, b"two\n")
    assert reader.read() == [b"two"]
    reader.now += DRAIN
    assert reader.read() == []
    append(path.with_suffix(".1"), b"far too late\n")
    append(path, b"three\n")
    assert reader.read() == [b"three"]


def test_the_only_line_of_a_renamed_file_may_end_after_that(path, reader):
    append(path, b"on")
    assert reader.read() == []
    path.rename(path.with_suffix(".1"))
    append(path, b"two\n")
    assert reader.read() == [b"two"]
    append(path.with_suffix(".1"), b"e\n")
    assert reader.read() == [b"one"]
    path.rename(path.with_suffix(".2"))
    append(path, b"unended")
    reader.read()
    path.rename(path.with_suffix(".3"))
    append(path, b"three\n")
    assert reader.read() == [b"three"]
    reader.now += DRAIN
    assert reader.read() == [b"unended"]


def test_several_renamed_files_are_read_oldest_first(path, reader):
    olds = []
    for number in range(3):
        append(path, b"first of %d\n" % number)
        reader.read()
        olds.append(path.rename(path.with_suffix(f".{number}")))
    for old in reversed(olds[:2]):
        append(old, b"late\n")
    append(path, b"new\n")
    messages = reader.poll()
    assert [message.value for message in messages] == [b"late", b"late", b"new"]
    assert [message.position.topic for message in messages] == [*list(reader.known)[:2], messages[2].position.topic]


def test_lines_at_one_offset_of_two_rotated_files_have_two_positions(path, reader):
    append(path, b"same\n")
    (first,) = reader.poll()
    path.rename(path.with_suffix(".1"))
    append(path, b"same\n")
    (second,) = reader.poll()
    assert first.value == second.value
    assert first.position != second.position


def test_a_file_that_is_renamed_back_is_read_once(path, reader):
    append(path, b"one\n")
    reader.read()
    path.rename(path.with_suffix(".1"))
    append(path, b"two\n")
    assert reader.read() == [b"two"]
    path.unlink()
    path.with_suffix(".1").rename(path)
    append(path, b"three\n")
    assert reader.read() == [b"three"]
    assert reader.read() == []


def test_what_was_read_of_a_renamed_file_stays_stored_over_a_restart(path, reader):
    append(path, b"one\n")
    reader.read()
    path.rename(path.with_suffix(".1"))
    append(path, b"two\n")
    reader.read()
    append(path.with_suffix(".1"), b"late\n")
    assert reader.read() == [b"late"]
    reader.restart()
    append(path, b"three\n")
    assert reader.read() == [b"three"]
    assert sorted(reader.known.values()) == [9, 10]


def test_each_rotated_file_has_an_offset_of_its_own(path, reader):
    append(path, b"one\n")
    path_offsets = []
    reader.read()
    path.rename(path.with_suffix(".1"))
    append(path, b"three\n")
    reader.poll()
    path_offsets = [(offset.expected, offset.next) for offset in reader.source.offsets()]
    assert path_offsets == [(None, 6)]
    assert list(reader.source.offsets()) == []


def test_rotation_twice_between_two_polls_loses_the_file_in_between_only(path, reader):
    append(path, b"one\n")
    reader.read()
    path.rename(path.with_suffix(".1"))
    append(path, b"two\n")
    path.rename(path.with_suffix(".2"))
    append(path, b"three\n")
    assert reader.read() == [b"three"]  # nobody follows names that were never given


def test_rotation_in_the_middle_of_a_full_poll(path, reader):
    append(path, b"1\n2\n3\n")
    assert reader.read(max_messages=1) == [b"1"]
    path.rename(path.with_suffix(".1"))
    append(path, b"4\n")
    assert [reader.read(max_messages=1) for _ in range(4)] == [[b"2"], [b"3"], [b"4"], []]


def test_a_last_line_without_end_that_fills_a_batch_is_no_emptied_file(path, reader):
    append(path, b"one\ntwo")
    assert reader.read() == [b"one"]
    path.rename(path.with_suffix(".1"))
    append(path, b"three\n")
    assert reader.read() == [b"three"]
    reader.now += DRAIN
    assert reader.read(max_messages=1) == [b"two"]
    assert reader.read(max_messages=1) == []
    append(path, b"four\n")
    assert reader.read() == [b"four"]
