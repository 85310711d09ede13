"""A followed file that grows: whole lines, blank lines, long lines."""

from __future__ import annotations

import hashlib

import pytest

from monitor.core.message import Position
from monitor.ingest.follow import DRAIN
from tests.factories.assess.interactions import NOON
from tests.rig.ingest.following import LIMIT, append


def test_lines_are_read_as_they_are_written(path, reader):
    append(path, b"one\ntwo\n")
    assert reader.read() == [b"one", b"two"]
    assert reader.read() == []
    append(path, b"three\n")
    assert reader.read() == [b"three"]


def test_a_message_says_where_and_when_it_was_read(path, reader):
    append(path, b"one\n\nthree\n")
    first, second = reader.poll()
    (offset,) = reader.source.offsets()
    assert first.position == Position(topic=offset.topic, partition=0, offset=0)
    assert second.position == Position(topic=offset.topic, partition=0, offset=5)
    assert (first.received_at, first.size, first.headers, first.key) == (NOON, 3, (), None)


def test_a_line_that_is_not_whole_yet_is_waited_for(path, reader):
    append(path, b"one\ntw")
    assert reader.read() == [b"one"]
    assert reader.read() == []
    append(path, b"o")
    assert reader.read() == []
    append(path, b"\nthr")
    assert reader.read() == [b"two"]


def test_a_partial_line_is_not_counted_as_read(path, reader):
    append(path, b"one\ntw")
    reader.read()
    assert list(reader.known.values()) == [4]
    reader.restart()
    append(path, b"o\n")
    assert reader.read() == [b"two"]


def test_blank_lines_are_passed_over_and_counted_in_the_offset(path, reader):
    append(path, b"\n  \n\t\r\none\n\n")
    assert reader.read() == [b"one"]
    assert list(reader.known.values()) == [12]
    append(path, b"\n\n")
    assert reader.read() == []
    assert list(reader.known.values()) == [14]


def test_line_ends_of_both_kinds_are_no_part_of_the_line(path, reader):
    append(path, b"one\r\ntwo\nthree\r\n")
    assert reader.read() == [b"one", b"two", b"three"]


def test_a_carriage_return_that_comes_before_its_line_feed_is_waited_for(path, reader):
    append(path, b"one\r")
    assert reader.read() == []
    append(path, b"\n")
    assert reader.read() == [b"one"]


def test_bytes_that_are_no_text_pass_through(path, reader):
    append(path, b"\xff\x00\xfe\n")
    assert reader.read() == [b"\xff\x00\xfe"]


def test_nothing_to_read_is_waited_for_as_long_as_was_asked(path, reader):
    assert reader.read() == []
    assert reader.stop.waited == [0.25]
    append(path, b"one\n")
    reader.read()
    assert reader.stop.waited == [0.25]


def test_a_poll_ends_at_its_number_of_messages_and_the_next_goes_on(path, reader):
    append(path, b"1\n2\n3\n4\n5\n")
    assert [reader.read(max_messages=2) for _ in range(4)] == [[b"1", b"2"], [b"3", b"4"], [b"5"], []]


def test_a_poll_ends_once_it_has_its_bytes(path, reader):
    append(path, b"aaaa\nbbbb\ncccc\n")
    assert [reader.read(max_bytes=5) for _ in range(2)] == [[b"aaaa", b"bbbb"], [b"cccc"]]


@pytest.mark.parametrize("length", [LIMIT - 1, LIMIT, LIMIT + 1, LIMIT + 2, LIMIT + 3, 1000, 600_000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_line_over_the_limit_is_cut_one_byte_after_it_and_says_its_length(path, reader, length, end):
    append(path, b"x" * length + end + b"next\n")
    long, following = reader.poll()
    assert long.value == b"x" * min(length, LIMIT + 1)
    assert (long.size > LIMIT) is (length > LIMIT)
    assert long.size in (length, length + len(end) - 1)
    assert following.value == b"next"
    assert following.position.offset == length + len(end)


def test_a_long_line_that_is_not_whole_yet_is_waited_for(path, reader):
    append(path, b"x" * 100)
    assert reader.read() == []
    append(path, b"x" * 100 + b"\nnext\n")
    long, following = reader.poll()
    assert (long.size, following.value) == (200, b"next")


def test_the_long_last_line_of_a_renamed_file_is_cut_too(path, reader):
    append(path, b"one\n" + b"x" * 100)
    assert reader.read() == [b"one"]
    path.rename(path.with_suffix(".1"))
    append(path, b"two\n")
    assert reader.read() == [b"two"]
    reader.now += DRAIN
    (long,) = reader.poll()
    assert (len(long.value), long.size) == (LIMIT + 1, 100)


def test_a_long_line_of_white_space_is_no_blank_line(path, reader):
    append(path, b" " * 100 + b"\n")
    (long,) = reader.poll()
    assert long.size == 100


def test_what_was_read_has_a_digest_that_the_file_itself_gives(path, reader):
    content = b"one\n\n" + b"x" * (LIMIT + 300_000) + b"\nthree\nhal"
    append(path, content)
    while reader.poll():
        pass
    spans, first = [offset.file for offset in reader.source.offsets()], 0
    append(path, b"f\n")
    while reader.poll():
        pass
    spans += [offset.file for offset in reader.source.offsets()]
    for span, end, lines in zip(spans, (len(content) - 3, len(content) + 2), (4, 1), strict=True):
        assert (span.first, span.lines) == (first, lines)
        assert span.sha256 == hashlib.sha256((content + b"f\n")[first:end]).hexdigest()
        first = end
