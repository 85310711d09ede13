"""Several followed files, and the end of reading."""

from __future__ import annotations

import pytest

from tests.rig.ingest.following import Reader, append


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
