"""Files that are missing, refused, or known under two names."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from monitor.core.errors import Fatal, WrongSettings
from tests.rig.ingest.following import Reader, append


def test_a_file_that_is_not_there_yet_is_waited_for(path, reader):
    assert reader.read() == []
    assert list(reader.source.offsets()) == []
    append(path, b"one\n")
    assert reader.read() == [b"one"]


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(WrongSettings, match="is a folder"):
        Reader(tmp_path)


@pytest.mark.parametrize("name", ["answers.csv", "answers.TSV", "answers.csv.gz"])
def test_a_table_is_refused_with_the_command_that_reads_it(tmp_path, name):
    with pytest.raises(WrongSettings, match=f"{name}: only JSON lines can be followed; `monitor replay` reads tables"):
        Reader(tmp_path / name)


def test_a_pipe_is_refused(path):
    os.mkfifo(path)
    with pytest.raises(WrongSettings, match="is not a plain file"):
        Reader(path)


def test_a_loop_of_links_is_refused(path):
    path.symlink_to(path)
    with pytest.raises(WrongSettings, match="cannot be read"):
        Reader(path)


@pytest.mark.parametrize("data", [gzip.compress(b"one\n", mtime=0), b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"P*M\x18"])
def test_a_compressed_file_is_refused_at_the_start(path, data):
    append(path, data)
    with pytest.raises(WrongSettings, match=r"compressed.*monitor replay"):
        Reader(path)


def test_a_compressed_file_that_comes_later_stops_the_program(path, reader):
    append(path, gzip.compress(b"one\n", mtime=0))
    with pytest.raises(Fatal, match=r"compressed.*monitor replay"):
        reader.read()
    assert list(reader.source.offsets()) == []


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
