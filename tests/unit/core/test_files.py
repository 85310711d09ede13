"""A file is there whole or not at all, whatever happens while it is written."""

from __future__ import annotations

import os
from threading import Thread

import pytest

from monitor.core.errors import OutOfReach, WrongSettings
from monitor.core.files import create, output_file, replacing, replacing_text


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_old_content_stays_until_the_block_ends(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    with replacing_text(path) as out:
        out.write("né\n")
        out.flush()
        assert path.read_text() == "old"
    assert path.read_bytes() == "né\n".encode()
    assert names(tmp_path) == ["out"]


def test_a_block_that_fails_leaves_the_old_content_and_nothing_else(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing_text(path) as out:
        out.write("half" + str(1 / 0))
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out"]


def test_permissions_follow_the_umask_or_are_stricter(tmp_path):
    before = os.umask(0o027)
    try:
        with replacing(tmp_path / "shared"):
            pass
        with replacing(tmp_path / "secret", mode=0o600):
            pass
    finally:
        os.umask(before)
    assert [(tmp_path / name).stat().st_mode & 0o777 for name in ("shared", "secret")] == [0o640, 0o600]


def test_a_link_goes_on_pointing_to_its_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with replacing(tmp_path / "link") as out:
        out.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_pipe_is_written_directly(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard = []
    reader = Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    with replacing_text(pipe) as out:
        out.write("through")
    reader.join()
    assert heard == [b"through"]
    assert names(tmp_path) == ["pipe"]


@pytest.fixture
def read_pipe(tmp_path):
    """A pipe, and the descriptor at which it is read."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    return pipe, os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)


def write_half(opened, then):
    with opened as out:
        out.write("half")
        then()


def test_a_pipe_gets_what_was_written_before_the_block_failed(read_pipe):
    pipe, reader = read_pipe
    with pytest.raises(ZeroDivisionError):
        write_half(replacing_text(pipe), lambda: 1 / 0)
    assert os.read(reader, 100) == b"half"
    os.close(reader)


def test_what_ended_the_block_is_named_where_the_output_cannot_be_closed_either(read_pipe):
    pipe, reader = read_pipe

    def lose() -> None:
        os.close(reader)
        raise OutOfReach("the database is away")

    with pytest.raises(OutOfReach, match="the database is away"):
        write_half(output_file(pipe), lose)


def test_what_is_there_is_not_created_again(tmp_path):
    path = tmp_path / "key"
    assert create(path, "first", mode=0o600)
    assert not create(path, "second", mode=0o600)
    assert path.read_text() == "first"
    assert path.stat().st_mode & 0o777 == 0o600
    assert names(tmp_path) == ["key"]


def test_a_folder_that_is_missing_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "no" / "file"):
        pass
    with pytest.raises(FileNotFoundError):
        create(tmp_path / "no" / "file", "x")


def test_an_output_that_cannot_be_written_is_wrong_use(tmp_path):
    with pytest.raises(WrongSettings, match="cannot write"), output_file(tmp_path / "no" / "out.jsonl"):
        pass
