"""A followed file that is truncated or replaced."""

from __future__ import annotations

from tests.rig.ingest.following import append


def test_a_truncated_file_is_read_anew(path, reader):
    append(path, b"one\ntwo\n")
    reader.read()
    path.write_bytes(b"new\n")
    assert reader.read() + reader.read() == [b"new"]
    append(path, b"more\n")
    assert reader.read() == [b"more"]


def test_a_file_that_was_emptied_and_grew_past_the_old_place_is_read_from_its_start(path, reader):
    """As `copytruncate` leaves a log that nobody read for a night."""
    append(path, b"one\ntwo\n")
    reader.read()
    path.write_bytes(b"new\n" * 50)
    assert reader.read() == [b"new"] * 50


def test_so_is_one_with_the_same_first_line_where_reading_stopped_within_a_line_of_it(path, reader):
    append(path, b"one\ntwo\n")
    reader.read()
    path.write_bytes(b"one\nthree and four\nfive\n")
    assert reader.read() == [b"one", b"three and four", b"five"]


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
