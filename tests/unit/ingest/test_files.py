from __future__ import annotations

import gzip
import hashlib
import io
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from monitor.core.errors import Fatal, WrongSettings
from monitor.ingest import compression
from monitor.ingest import lines as line_splitting
from monitor.ingest.files import FileSource

NOW = datetime(2026, 5, 4, tzinfo=UTC)
PACK = {"plain": bytes, "gz": gzip.compress, "zst": compression.zstd.compress}


def source(*paths, **settings):
    return FileSource([Path(p) for p in paths], now=lambda: NOW, **settings)


def poll(reader, max_messages=100, max_bytes=10**9):
    return reader.poll(max_messages=max_messages, max_bytes=max_bytes, timeout=0.0)


def everything(reader, into=None, **limits):
    messages = [] if into is None else into
    while (batch := poll(reader, **limits)) is not None:
        messages.extend(batch)
    return messages


def lines(messages):
    return [(message.position.offset, message.value) for message in messages]


@pytest.fixture
def file(tmp_path):
    def write(content, name="events.jsonl"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def test_messages_tell_where_and_when_they_were_read(file):
    path = file(b'{"a": 1}\n')
    (message,) = everything(source(path))
    assert (message.position.topic, message.position.partition, message.position.offset) == (str(path), 0, 1)
    assert (message.received_at, message.size, message.headers, message.key) == (NOW, 8, (), None)


def test_line_ends_and_blank_lines(file):
    path = file(b"one\r\n\n  \t\r\ntwo\n\r\nthr\ree\r\n  four \nlast\r")
    assert lines(everything(source(path))) == [(1, b"one"), (4, b"two"), (6, b"thr\ree"), (7, b"  four "), (8, b"last")]


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n \n"])
def test_nothing_to_read(file, content):
    reader = source(file(content))
    assert poll(reader) is None
    assert poll(reader) is None


def test_no_paths():
    assert poll(source()) is None


@given(
    st.lists(st.binary(max_size=40).map(lambda b: b.translate(None, b"\0\n\r")), max_size=30),
    st.sampled_from(sorted(PACK)),
    st.tuples(st.sampled_from([b"\n", b"\r\n"]), st.booleans()),
    st.tuples(st.integers(1, 7), st.sampled_from([1, 3, 16, 1000])),
)
def test_any_lines_come_back_with_their_numbers(tmp_path_factory, content, packing, ends, counts):
    (end, ended), (count, chunk) = ends, counts
    assume(packing != "plain" or not content or not content[0].startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")))
    assume(not content or not content[0].startswith((b"\xff\xfe", b"\xfe\xff")))  # would be UTF-16
    assume(not content or not content[0].startswith(b"PK\x03\x04"))  # would be a ZIP archive
    assume(not end.join(content).lstrip().startswith((b"[", b"{")))  # would be a JSON document
    path = tmp_path_factory.mktemp("lines") / "x"
    path.write_bytes(PACK[packing](end.join(content) + (end if ended else b"")))
    reader, batches = source(path), []
    with patch.object(line_splitting, "CHUNK_BYTES", chunk):
        while (batch := poll(reader, max_messages=count)) is not None:
            assert len(batch) <= count
            batches.extend(batch)
    assert lines(batches) == [(i, line) for i, line in enumerate(content, 1) if line.strip()]
    assert reader.bytes_read == reader.bytes_total == path.stat().st_size


@pytest.mark.parametrize("chunk", [1, 2, 5, 6, 7, 1000])
def test_a_long_line_is_cut_and_its_length_told(file, monkeypatch, chunk):
    monkeypatch.setattr(line_splitting, "CHUNK_BYTES", chunk)
    path = file(b"12345\n123456\r\n12345\r\n1234567890\r\n1234567890\nend\n" + b"1" * 50)
    messages = everything(source(path, max_message_bytes=5))
    assert [(m.position.offset, m.value, m.size) for m in messages] == [
        (1, b"12345", 5),
        (2, b"123456", 6),
        (3, b"12345", 5),
        (4, b"123456", 10),
        (5, b"123456", 10),
        (6, b"end", 3),
        (7, b"111111", 50),
    ]


def test_a_huge_line_does_not_fill_memory(file):
    import tracemalloc  # noqa: PLC0415

    path = file(gzip.compress(b"x" * 64_000_000 + b"\nnext\n"))
    reader = source(path, max_message_bytes=1000)
    tracemalloc.start()
    try:
        messages = everything(reader)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [(len(m.value), m.size) for m in messages] == [(1001, 64_000_000), (4, 4)]
    assert peak < 8_000_000


def test_a_poll_keeps_to_its_limits(file):
    reader = source(file(b"1234567890\n" * 10))
    assert len(poll(reader, max_messages=3)) == 3
    assert len(poll(reader, max_bytes=25)) == 3
    assert len(poll(reader, max_bytes=1)) == 1
    assert len(poll(reader)) == 3
    assert poll(reader) is None


def test_files_follow_one_another_and_numbers_begin_anew(file):
    one, two = file(b"a\nb", "one"), file(gzip.compress(b"c\n"), "two")
    messages = everything(source(one, two, one))
    assert [(Path(m.position.topic).name, m.position.offset, m.value) for m in messages] == [
        ("one", 1, b"a"),
        ("one", 2, b"b"),
        ("two", 1, b"c"),
        ("one", 1, b"a"),
        ("one", 2, b"b"),
    ]


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_packed_files_in_several_parts_are_read_through(file, packing):
    pack = PACK[packing]
    path = file(pack(b"a\nb") + pack(b"c\n") + pack(b"") + pack(b"d\n"), "x")
    assert lines(everything(source(path))) == [(1, b"a"), (2, b"bc"), (3, b"d")]


def test_zstd_that_begins_with_a_skippable_frame_as_pzstd_writes_it(file):
    skippable = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"size"
    path = file(skippable + PACK["zst"](b"a\n") + skippable + PACK["zst"](b"b\n"))
    assert lines(everything(source(path))) == [(1, b"a"), (2, b"b")]


@pytest.mark.parametrize("packing", ["gz", "zst"])
@pytest.mark.parametrize("max_messages", [1, 100, 10_000])
def test_a_packed_file_cut_short_gives_its_lines_and_then_says_so(file, packing, max_messages):
    content = b"".join(b"%d %s\n" % (i, os.urandom(30).hex().encode()) for i in range(20_000))
    whole = PACK[packing](content)
    reader = source(file(whole[: len(whole) // 2], f"x.{packing}"))
    messages = []
    with pytest.raises(Fatal, match=rf"x\.{packing}: the compressed file is truncated") as caught:
        everything(reader, into=messages, max_messages=max_messages)
    assert f"{len(messages):,} whole lines were read" in str(caught.value)
    assert 1000 < len(messages) < 20_000
    assert [m.value for m in messages] == content.splitlines()[: len(messages)]
    with pytest.raises(Fatal):
        poll(reader)


@pytest.mark.parametrize("packing", ["gz", "zst"])
@pytest.mark.parametrize("kept", [0, 1, 3, 8])
def test_a_packed_file_that_lost_nearly_everything_is_no_empty_one(file, packing, kept):
    path = file(PACK[packing](b"a\nb\n")[:kept], f"x.{packing}")
    with pytest.raises(Fatal, match="truncated"):
        poll(source(path))


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_a_damaged_packed_file_is_named_with_the_line_reached(file, packing):
    content = b"".join(b"%d %s\n" % (i, os.urandom(30).hex().encode()) for i in range(20_000))
    # The zstd command writes checksums by default, this library does not.
    with_checksum = {compression.zstd.CompressionParameter.checksum_flag: 1}
    whole = bytearray(
        gzip.compress(content) if packing == "gz" else compression.zstd.compress(content, options=with_checksum)
    )
    whole[len(whole) // 2 : len(whole) // 2 + 64] = b"\xff" * 64
    reader = source(file(bytes(whole), f"x.{packing}"))
    with pytest.raises(Fatal, match=rf"x\.{packing}: cannot be read after line [\d,]+"):
        everything(reader)


def test_rubbish_behind_a_packed_file_is_told(file):
    with pytest.raises(Fatal, match="cannot be read after line 1"):
        everything(source(file(gzip.compress(b"a\n") + b"rubbish")))


@pytest.mark.parametrize("packing", sorted(PACK))
def test_standard_input(packing):
    reader = source("-", stdin=io.BytesIO(PACK[packing](b"a\n\nb")))
    assert reader.bytes_total is None
    messages = everything(reader)
    assert lines(messages) == [(1, b"a"), (3, b"b")]
    assert {m.position.topic for m in messages} == {"-"}
    assert reader.bytes_read > 0


def test_standard_input_is_the_process_s_own_unless_given(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a\n")))
    assert lines(everything(source("-"))) == [(1, b"a")]


def test_standard_input_stays_open():
    stdin = io.BytesIO(b"a\n")
    reader = source("-", stdin=stdin)
    everything(reader)
    reader.close()
    assert not stdin.closed


def test_a_pipe_gives_each_line_as_it_comes():
    """The writer goes on only once its line was read, so a reader that waited for more would never end."""
    read_end, write_end = os.pipe()
    turns = threading.Semaphore(0)

    def write():
        for i in range(3):
            os.write(write_end, b"line %d\nha" % i)
            turns.acquire()
        os.close(write_end)

    writer = threading.Thread(target=write, daemon=True)
    with os.fdopen(read_end, "rb") as pipe:
        writer.start()
        reader = source("-", stdin=pipe)
        seen = []
        while (batch := poll(reader)) is not None:
            if batch:
                seen.append([m.value for m in batch])
                turns.release()
    writer.join()
    assert seen == [[b"line 0"], [b"haline 1"], [b"haline 2"], [b"ha"]]


def test_a_named_pipe_has_no_total(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(b"a\nb\n"),), daemon=True)
    reader = source(path)
    assert reader.bytes_total is None
    writer.start()
    assert lines(everything(reader)) == [(1, b"a"), (2, b"b")]
    writer.join()


def test_progress_counts_packed_bytes_over_all_files(file):
    one, two = file(gzip.compress(b"a\n" * 1000), "one"), file(b"b\n", "two")
    reader = source(one, two)
    assert reader.bytes_read == 0
    assert reader.bytes_total == one.stat().st_size + 2
    poll(reader, max_messages=1)
    assert 0 < reader.bytes_read <= one.stat().st_size
    everything(reader)
    assert reader.bytes_read == reader.bytes_total


@pytest.mark.parametrize("name", ["missing.jsonl", "missing/x", "", "a\x00b"])
def test_what_cannot_be_read_is_told_before_anything_is_read(file, tmp_path, name):
    opened = []
    with pytest.raises(WrongSettings) as caught:
        FileSource([file(b"a\n"), tmp_path / name], now=lambda: opened.append(1) or NOW)
    assert str(tmp_path / name) in str(caught.value)
    assert not opened


def test_standard_input_twice_is_told():
    with pytest.raises(WrongSettings, match="only once"):
        source("-", "-")


def test_a_file_that_went_away_meanwhile_is_fatal(file):
    one, two = file(b"a\n", "one"), file(b"b\n", "two")
    reader = source(one, two)
    two.unlink()
    assert lines(poll(reader)) == [(1, b"a")]
    with pytest.raises(Fatal, match="two: cannot be read after line 0"):
        poll(reader)


def test_closing_twice_ends_the_reading(file):
    reader = source(file(b"a\nb\n"))
    poll(reader, max_messages=1)
    reader.close()
    reader.close()
    assert poll(reader) is None


def test_telling_that_messages_are_stored_changes_nothing(file):
    reader = source(file(b"a\nb\n"))
    poll(reader, max_messages=1)
    reader.stored(reader.offsets())
    assert lines(everything(reader)) == [(2, b"b")]


@pytest.mark.parametrize("packing", sorted(PACK))
def test_a_file_that_was_read_whole_has_its_lines_and_its_digest(file, packing):
    path = file(PACK[packing](b"one\n\n  \nfour"), f"x.{packing}")
    reader = source(path)
    while reader.poll(max_messages=1, max_bytes=10**6, timeout=1) is not None:
        pass
    (read,) = reader.read_whole
    assert (read.name, read.lines, read.blank) == (str(path), 4, 2)
    assert read.sha256 == hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_the_form_of_a_file_is_told_by_more_than_its_first_bytes(file):
    with pytest.raises(Fatal, match="no text file"):
        everything(source(file(b"PAR1\x15\x04\x00\x00\n{}\n")))
    document = b'\xef\xbb\xbf{\n  "id": 1\n}\n'  # PowerShell writes the three bytes
    assert lines(everything(source(file(document)))) == [(1, b'{\n  "id": 1\n}')]
    assert lines(everything(source(file(b'  \n {\n  "id": 1\n}\n')))) == [(1, b'{\n  "id": 1\n}')]
