"""Writes files that are there whole or not at all, whenever the program or the machine stops."""

from __future__ import annotations

import io
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from monitor.core.errors import MonitorError, WrongSettings

_BY_UMASK = 0o666


@contextmanager
def replacing(path: Path, *, mode: int = _BY_UMASK) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` when the block ends without an error; `mode` is masked by the umask.

    What is no regular file, such as a pipe or a terminal, cannot be replaced and is written directly.

    Raises:
        OSError: the file cannot be written; `path` is as it was.
    """
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()  # a link goes on pointing to its file
    with _new_file(path, mode) as (file, new):
        yield file
        _to_disk(file)
        new.replace(path)


@contextmanager
def replacing_text(path: Path) -> Iterator[TextIO]:
    """As `replacing`, for text in UTF-8. A pipe gets what was written even if the block fails.

    Raises:
        OSError: the file cannot be written; `path` is as it was.
    """
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8")
        try:
            yield text
        finally:
            text.detach()  # flushes first


@contextmanager
def output_file(path: Path) -> Iterator[TextIO]:
    """As `replacing_text`, for a file that a person named.

    Raises:
        WrongSettings: the file cannot be written; `path` is as it was.
    """
    failure: MonitorError | None = None
    try:
        with replacing_text(path) as file:
            try:
                yield file
            except MonitorError as error:
                failure = error
                raise
    except OSError as error:
        if failure is not None:  # it names the cause; that the file could not be closed either is a consequence
            raise failure from None
        raise WrongSettings(f"cannot write {path}: {error.strerror}") from None


def create(path: Path, content: str, *, mode: int = _BY_UMASK) -> bool:
    """Writes a file that is not there yet; False where there is one, which stays. Several processes may try at once.

    Raises:
        OSError: the file cannot be written.
    """
    with _new_file(path, mode) as (file, new):
        file.write(content.encode())
        _to_disk(file)
        try:
            os.link(new, path)  # unlike a rename, refuses to replace
        except FileExistsError:
            return False
        return True


@contextmanager
def _new_file(path: Path, mode: int) -> Iterator[tuple[BinaryIO, Path]]:
    """A file beside `path`, which is removed at the end of the block unless it was renamed."""
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            yield file, new
    finally:
        new.unlink(missing_ok=True)


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
