from __future__ import annotations

import gzip
import hashlib
import os
from datetime import timedelta
from pathlib import Path
from threading import Event

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.core.errors import Fatal, WrongSettings
from monitor.core.message import Position
from monitor.ingest.follow import DRAIN, FollowSource
from tests.factories.assess import NOON

LIMIT = 20


class Stop(Event):
    """An event that nobody waits for; it keeps the times it was to be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout)
        return self.is_set()


class Reader:
    """A source with the database's memory of its offsets: `restart` loses everything else."""

    def __init__(self, *paths: Path, limit: int = LIMIT) -> None:
        self.paths, self.limit = paths, limit
        self.known: dict[str, int] = {}
        self.stop = Stop()
        self.now = NOON
        self._open()

    def _open(self) -> None:
        self.source = FollowSource(
            self.paths, known=self.known, now=lambda: self.now, max_message_bytes=self.limit, stop=self.stop
        )

    def restart(self) -> None:
        self.source.close()
        self._open()

    def poll(self, *, max_messages: int = 1000, max_bytes: int = 10**6):
        return self.source.poll(max_messages=max_messages, max_bytes=max_bytes, timeout=0.25)

    def read(self, **limits) -> list[bytes]:
        """The values of one poll, whose offsets are then stored, each fenced by the one before."""
        messages = self.poll(**limits)
        offsets = self.source.offsets()
        for offset in offsets:
            assert self.known.get(offset.topic) == offset.expected
            offset.topic.encode()  # as the database stores it
            self.known[offset.topic] = offset.next
        self.source.stored(offsets)
        return [message.value for message in messages]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


@pytest.fixture
def reader(path):
    opened = Reader(path)
    yield opened
    opened.source.close()


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


# --- growing ---------------------------------------------------------------------------------------------------------


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


# --- missing ---------------------------------------------------------------------------------------------------------


def test_a_file_that_is_not_there_yet_is_waited_for(path, reader):
    assert reader.read() == []
    assert list(reader.source.offsets()) == []
    append(path, b"one\n")
    assert reader.read() == [b"one"]


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(WrongSettings, match="is a folder"):
        Reader(tmp_path)


def test_a_pipe_is_refused(path):
    os.mkfifo(path)
    with pytest.raises(WrongSettings, match="is no plain file"):
        Reader(path)


def test_a_loop_of_links_is_refused(path):
    path.symlink_to(path)
    with pytest.raises(WrongSettings, match="cannot be read"):
        Reader(path)


@pytest.mark.parametrize("data", [gzip.compress(b"one\n", mtime=0), b"\x28\xb5\x2f\xfd", b"\x1f\x8b"])
def test_a_compressed_file_is_refused_at_the_start(path, data):
    append(path, data)
    with pytest.raises(WrongSettings, match=r"compressed.*monitor replay"):
        Reader(path)


def test_a_compressed_file_that_comes_later_stops_the_program(path, reader):
    append(path, gzip.compress(b"one\n", mtime=0))
    with pytest.raises(Fatal, match=r"compressed.*monitor replay"):
        reader.read()
    assert list(reader.source.offsets()) == []


# --- names -----------------------------------------------------------------------------------------------------------


def test_one_file_under_two_spellings_is_refused(path, tmp_path, monkeypatch):
    link = tmp_path / "link"
    link.symlink_to(path)
    monkeypatch.chdir(tmp_path)
    for again in (path, Path(path.name), link, tmp_path / "link" / ".." / path.name):
        with pytest.raises(WrongSettings, match="is the same file as"):
            Reader(path, again)


def test_another_spelling_keeps_the_place(path, reader, tmp_path, monkeypatch):
    append(path, b"one\n")
    assert reader.read() == [b"one"]
    link = tmp_path / "link"
    link.symlink_to(path)
    monkeypatch.chdir(tmp_path)
    for again in (Path(path.name), link):
        reader.paths = (again,)
        reader.restart()
        assert reader.read() == []


def test_a_link_that_is_turned_to_another_file_is_followed(tmp_path):
    link, first, second = tmp_path / "link", tmp_path / "first", tmp_path / "second"
    append(first, b"one\n")
    append(second, b"two\n")
    link.symlink_to(first)
    reader = Reader(link)
    assert reader.read() == [b"one"]
    link.unlink()
    link.symlink_to(second)
    assert reader.read() == [b"two"]
    assert [topic.partition("#")[0] for topic in reader.known] == [str(first), str(second)]
    reader.source.close()


def test_a_name_that_is_no_text_can_be_stored(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl"))
    reader = Reader(path)
    append(path, b"one\ntwo\n")
    (message,) = reader.poll(max_messages=1)
    assert message.position.topic.encode().startswith(os.fsencode(tmp_path))
    reader.restart()
    assert reader.read() == [b"one", b"two"]
    reader.restart()
    assert reader.read() == []
    reader.source.close()


def test_a_path_that_became_a_folder_stops_the_program(path, reader):
    path.mkdir()
    with pytest.raises(Fatal, match="cannot be read"):
        reader.read()


# --- rotation --------------------------------------------------------------------------------------------------------


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


def test_a_truncated_file_is_read_anew(path, reader):
    append(path, b"one\ntwo\n")
    reader.read()
    path.write_bytes(b"new\n")
    assert reader.read() + reader.read() == [b"new"]
    append(path, b"more\n")
    assert reader.read() == [b"more"]


def test_a_truncated_file_with_the_same_first_line_is_read_anew(path, reader):
    append(path, b"one\ntwo\nthree\n")
    reader.read()
    path.write_bytes(b"one\nfour\n")
    assert reader.read() == [b"one", b"four"]
    assert list(reader.known.values()) == [9]  # it has gone back
    path.write_bytes(b"")
    assert reader.read() == []
    append(path, b"on")
    assert reader.read() == []
    append(path, b"e\nfive and six\n")  # beyond the offset again
    assert reader.read() == [b"one", b"five and six"]
    reader.restart()
    assert reader.read() == []


def test_a_file_truncated_while_nobody_read_with_the_same_first_line_is_read_anew(path, reader):
    append(path, b"one\ntwo\nthree\n")
    reader.read()
    reader.source.close()
    path.write_bytes(b"one\nfour\n")
    reader.restart()
    assert reader.read() == [b"one", b"four"]
    assert list(reader.known.values()) == [9]
    reader.restart()
    assert reader.read() == []


def test_a_file_truncated_before_its_offset_was_stored_is_read_anew(path, reader):
    append(path, b"one\n\n\n\n\n\n")
    reader.poll()
    path.write_bytes(b"one\ntwo\n")
    assert reader.read() == [b"one", b"two"]


def test_what_was_seen_of_an_unended_line_is_looked_at_again(path, reader):
    append(path, b"one\ntwooooooooooooo")
    assert reader.read() == [b"one"]
    path.write_bytes(b"one\nfour\n")
    assert reader.read() == [b"four"]


def test_a_file_truncated_while_nobody_read_is_read_anew(path, reader):
    append(path, b"one\ntwo\n")
    reader.read()
    reader.source.close()
    path.write_bytes(b"new\n")
    reader.restart()
    assert reader.read() + reader.read() == [b"new"]


def test_a_file_that_replaced_another_while_nobody_read_is_read_from_its_beginning(path, reader):
    append(path, b"one\ntwo\n")
    reader.read()
    reader.source.close()
    path.rename(path.with_suffix(".1"))  # kept, so that its inode is not given to the next one
    append(path, b"a new file that is longer\n")
    reader.limit = 100
    reader.restart()
    assert reader.read() == [b"a new file that is longer"]


def test_a_file_in_the_place_of_a_deleted_one_is_read_from_its_beginning(path, reader):
    append(path, b"one\ntwo\n")
    reader.read()
    reader.source.close()
    path.unlink()
    append(path, b"three\nfour\nfive\n")  # many file systems give the inode again at once
    reader.restart()
    assert reader.read() == [b"three", b"four", b"five"]


# --- restarts --------------------------------------------------------------------------------------------------------


def test_after_a_restart_reading_goes_on_where_it_was_stored(path, reader):
    append(path, b"one\ntwo\n")
    assert reader.read(max_messages=1) == [b"one"]
    reader.restart()
    assert reader.read() == [b"two"]
    reader.restart()
    assert reader.read() == []


def test_what_was_polled_but_not_stored_comes_again(path, reader):
    append(path, b"one\ntwo\n")
    assert [m.value for m in reader.poll()] == [b"one", b"two"]
    reader.restart()
    assert reader.read() == [b"one", b"two"]


def test_an_offset_expects_the_one_before(path, reader):
    append(path, b"one\n")
    reader.poll()
    (first,) = reader.source.offsets()
    assert (first.partition, first.expected, first.next) == (0, None, 4)
    append(path, b"two\n")
    reader.poll()
    append(path, b"three\n")
    reader.poll()
    (second,) = reader.source.offsets()  # two polls, one step
    assert (second.topic, second.expected, second.next) == (first.topic, 4, 14)
    assert list(reader.source.offsets()) == []


def test_an_offset_names_the_path_and_the_file(path, reader):
    append(path, b"one\n")
    reader.poll()
    (offset,) = reader.source.offsets()
    first_line = hashlib.sha256(b"one\n").hexdigest()[:16]
    assert offset.topic == f"{path}#{path.stat().st_ino}-{first_line}"


def test_a_truncated_file_counts_as_another_one(path, reader):
    append(path, b"one\ntwo\n")
    reader.read()
    path.write_bytes(b"new\n")
    reader.read()
    reader.read()
    assert list(reader.known.values()) == [8, 4]


# --- long lines ------------------------------------------------------------------------------------------------------


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


# --- several files, stopping -----------------------------------------------------------------------------------------


def test_two_files_keep_a_place_each(tmp_path):
    left, right = tmp_path / "left", tmp_path / "right"
    reader = Reader(left, right)
    append(left, b"l1\n")
    append(right, b"r1\nr2\n")
    assert reader.read() == [b"l1", b"r1", b"r2"]
    append(right, b"r3\n")
    assert reader.read() == [b"r3"]
    reader.restart()
    append(left, b"l2\n")
    assert reader.read() == [b"l2"]
    assert sorted(reader.known.values()) == [6, 9]
    reader.source.close()


def test_a_missing_file_does_not_hold_up_the_other(tmp_path):
    reader = Reader(tmp_path / "missing", tmp_path / "there")
    append(tmp_path / "there", b"one\n")
    assert reader.read() == [b"one"]
    reader.source.close()


def test_it_ends_once_it_is_told_to_stop(path, reader):
    append(path, b"one\n")
    reader.stop.set()
    assert reader.poll() is None
    assert list(reader.source.offsets()) == []


@pytest.mark.parametrize(("rest", "looks"), [(b"\n" * 1000, 5), (b"x" * 10**6, 3)])
def test_it_stops_in_the_middle_of_what_is_no_message(path, reader, rest, looks, monkeypatch):
    append(path, b"one\n" + rest)
    asked = iter([False] * looks)  # by the poll, and for each line
    monkeypatch.setattr(reader.stop, "is_set", lambda: next(asked, True))
    assert reader.read() == [b"one"]
    assert list(reader.known.values()) in ([4], [7])  # nothing of the long line, three of the blank ones
    assert reader.poll() is None


def test_closing_twice_is_no_mistake(path, reader):
    append(path, b"one\n")
    reader.read()
    reader.source.close()
    reader.source.close()


# --- anything in any pieces ------------------------------------------------------------------------------------------

step = st.one_of(
    st.binary(max_size=12).map(lambda data: ("append", data.translate(None, b"\r\x1f\xb5"))),  # not as if compressed
    st.sampled_from([("append", b"\n"), ("poll", None), ("poll", 1), ("restart", None), ("rotate", None)]),
)


@given(st.lists(step, max_size=25))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_every_line_is_read_once_and_in_order(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("follow")
    path = folder / "answers.jsonl"
    reader = Reader(path, limit=1000)
    written, got, rotated = [b""], [], 0
    for what, detail in steps:
        if what == "append":
            append(path, detail)
            written[-1] += detail
        elif what == "poll":
            got += reader.read(max_messages=detail or 1000)
        elif what == "restart":
            reader.restart()
        elif path.exists():
            while part := reader.read():  # a file that nobody read to its end is lost once it is renamed and we restart
                got += part
            if written[-1].endswith(b"\n"):  # likewise its last line without an end
                path.rename(folder / f"rotated.{rotated}")
                rotated += 1
                written.append(b"")
    append(path, b"\n")
    written[-1] += b"\n"
    while part := reader.read():
        got += part
    reader.source.close()
    assert got == [line for data in written for line in data.split(b"\n") if line.strip()]


def test_how_far_was_read_is_told_by_path_whichever_file_stands_there(reader, path):
    name = str(path.resolve())

    def progress():
        return {p.topic: (p.through, p.behind) for p in reader.source.progress()}

    assert reader.read() == []
    assert progress() == {name: (NOON, 0)}  # nothing is there yet
    path.write_bytes(b"one\ntwo\nthr")
    reader.now = NOON + timedelta(seconds=1)
    assert reader.read(max_messages=1) == [b"one"]
    assert progress() == {name: (NOON, 1)}
    reader.now = NOON + timedelta(seconds=2)
    assert reader.read() == [b"two"]
    assert progress() == {name: (reader.now, 0)}
    reader.now += timedelta(seconds=1)
    path.rename(path.with_suffix(".1"))
    path.write_bytes(b"new\n")
    assert reader.read() == [b"new"]
    assert progress() == {name: (reader.now, 0)}
    reader.now += timedelta(seconds=1)
    assert reader.read() == []
    assert progress() == {name: (reader.now, 0)}
    caught_up = reader.now
    reader.stop.set()
    reader.now += timedelta(seconds=1)
    assert reader.poll() is None
    assert progress()[name][0] == caught_up


def test_what_is_not_stored_yet_is_not_caught_up(reader, path):
    path.write_bytes(b"one\n")
    assert len(reader.poll()) == 1
    offsets = reader.source.offsets()
    assert reader.source.progress() == ()
    reader.source.stored(offsets)
    assert [p.through for p in reader.source.progress()] == [NOON]
