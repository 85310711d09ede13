"""Offsets of followed files, and reading on after a restart."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.factories.assess.interactions import NOON
from tests.rig.ingest.following import Reader, append


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


_LEFT_OUT = b"\r\x1f\xb5\x18"  # so that no file begins as if it were compressed
step = st.one_of(
    st.binary(max_size=12).map(lambda data: ("append", data.translate(None, _LEFT_OUT))),
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
