"""Reads files and standard input, plain or compressed: JSON lines, JSON documents and tables (CSV).

Each record is a message; blank lines are skipped. The first bytes tell the compression, not the name; the name tells a
table. Memory stays within a few chunks and one message, however long a line is.
"""

from __future__ import annotations

import hashlib
import io
import os
import select
import stat
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, cast

from typing_extensions import override

from monitor.core.errors import Fatal, Fenced, WrongSettings
from monitor.core.message import Message, Offset, Position, Progress, ReadFile
from monitor.core.ports import Source
from monitor.ingest.compression import DAMAGED, HEAD_BYTES, decompressed
from monitor.ingest.lines import Chunks
from monitor.ingest.records import TABLE, Form, form_of, records

STDIN = Path("-")


class FileSource(Source):
    """Reads `paths` in order, `-` for standard input; a position is (path as given, 0, line from 1).

    A value longer than `max_message_bytes` is cut one byte after that limit; the message's size is its full length.
    `now` gives the time of receipt, once per poll.

    Raises:
        WrongSettings: a path is missing, a folder or not readable, or `-` is given twice; nothing was read.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        now: Callable[[], datetime],
        max_message_bytes: int = 8 * 2**20,
        stdin: io.BufferedIOBase | None = None,
    ) -> None:
        self._paths = tuple(paths)
        self._bytes_total = _checked_size(self._paths)
        self._now = now
        self._limit = max_message_bytes
        self._stdin = stdin
        self._open = ExitStack()
        self._counter = _Counter()
        self._live = False  # the input is not a regular file, so a read may wait
        self._may_wait = False  # and the next step is such a read
        self._descriptor: int | None = None
        self._lines = self._read()
        self.read_whole: list[ReadFile] = []  # the files whose end was reached
        self._failure: Fatal | None = None

    @property
    def bytes_read(self) -> int:
        """Bytes read from the files so far; of compressed files, the compressed bytes."""
        return self._counter.bytes

    @property
    def bytes_total(self) -> int | None:
        """The size of all files in bytes; None if one of them is standard input, a pipe or the like."""
        return self._bytes_total

    @override
    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        """The next messages, None at the end; the last one may exceed `max_bytes`.

        Returns at once for files, and as soon as data arrives for standard input and pipes. Only a compressed stream
        may wait longer than `timeout`.

        Raises:
            Fatal: a file is truncated, damaged or unreadable; earlier polls returned the lines before.
        """
        if self._failure is not None:
            raise self._failure
        received_at = self._now()
        messages: list[Message] = []
        size = 0
        while len(messages) < max_messages and size < max_bytes:
            if self._may_wait and not self._ready(timeout):
                return messages
            try:
                line = next(self._lines)
            except StopIteration:
                return messages or None
            except Fatal as error:
                self._failure = error
                if messages:
                    return messages
                raise
            self._may_wait = line is None and self._live
            if line is not None:
                size += len(line.value)
                position = Position(topic=line.file, partition=0, offset=line.number)
                headers = TABLE if line.form is Form.TABLE else ()
                messages.append(
                    Message(
                        value=line.value, position=position, received_at=received_at, size=line.length, headers=headers
                    )
                )
            elif messages and self._live:
                break
        return messages

    def _ready(self, timeout: float) -> bool:
        """Waits up to `timeout` seconds; whether the next read of a pipe or terminal will return at once."""
        if self._descriptor is None:
            return True
        return bool(select.select([self._descriptor], [], [], timeout)[0])

    @override
    def offsets(self) -> tuple[Offset, ...]:
        """Empty: a file is always read from its start, and stored answers count as duplicates."""
        return ()

    @override
    def hold(self) -> None:
        pass

    @override
    def stored(self, offsets: Sequence[Offset]) -> None:
        pass

    @override
    def fenced(self, offsets: Sequence[Offset], error: Fenced) -> None:
        raise error

    @override
    def progress(self) -> tuple[Progress, ...]:
        return ()

    @override
    def close(self) -> None:
        """Closes the current file; may be called twice. Later polls return None."""
        self._lines.close()
        self._open.close()

    def _read(self) -> Generator[_Line | None]:
        """Every line that is not blank, and None before each read of a chunk."""
        for path in self._paths:
            name, number, blank = str(path), 0, 0
            with self._open:
                try:
                    self._counter.file = hashlib.sha256()
                    form = form_of(path)
                    for record in records(self._opened(path), form, self._limit):
                        if record is None:
                            yield None
                            continue
                        number += 1
                        value, length = record
                        if length > len(value) or not (value.isspace() or not value):
                            yield _Line(file=name, number=number, value=value, length=length, form=form)
                        else:
                            blank += 1
                    digest = self._counter.file.hexdigest()
                    self.read_whole.append(ReadFile(name=name, lines=number, blank=blank, sha256=digest))
                except Fatal as error:
                    raise Fatal(f"{name}: {error}; {number:,} rows were read") from None
                except EOFError:
                    raise Fatal(f"{name}: the compressed file is truncated; {number:,} whole lines were read") from None
                except DAMAGED as error:
                    raise Fatal(f"{name}: cannot be read after line {number:,}: {error}") from None

    def _opened(self, path: Path) -> Chunks:
        """The bytes of a file, decompressed."""
        raw: io.BufferedIOBase
        if path == STDIN:
            raw = self._stdin or cast("io.BufferedIOBase", sys.stdin.buffer)
            self._live = True
        else:
            raw = self._open.enter_context(path.open("rb"))
            self._live = not stat.S_ISREG(os.fstat(raw.fileno()).st_mode)
        self._descriptor = None
        counted = _Counted(raw, self._counter)
        plain = decompressed(cast("IO[bytes]", counted), counted.peek(HEAD_BYTES), path.suffix)
        if plain is not None:
            return self._open.enter_context(plain)
        if self._live:
            with suppress(OSError):  # a test's standard input has no descriptor
                self._descriptor = raw.fileno()
        return counted


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    file: str
    number: int
    value: bytes
    length: int
    form: Form


@dataclass(slots=True)
class _Counter:
    bytes: int = 0  # of all files
    file: hashlib._Hash = field(default_factory=hashlib.sha256)  # of the current one


class _Counted:
    """A stream that counts the bytes read from it, and whose first bytes can be peeked at."""

    def __init__(self, stream: io.BufferedIOBase, counter: _Counter) -> None:
        self._stream = stream
        self._counter = counter
        self._peeked = b""

    def peek(self, size: int) -> bytes:
        """The first `size` bytes, fewer only if there are no more."""
        while len(self._peeked) < size and (more := self._stream.read1(size - len(self._peeked))):
            self._peeked += more
        return self._peeked

    def read1(self, size: int, /) -> bytes:
        data, self._peeked = self._peeked[:size], self._peeked[size:]
        if len(data) < size:  # or else the form of a file would be told by its first four bytes alone
            data += self._stream.read1(size - len(data))
        self._counter.bytes += len(data)
        self._counter.file.update(data)
        return data

    def read(self, size: int, /) -> bytes:
        """Whole headers for gzip and zstd, even where a pipe gives them in parts."""
        data = self.read1(size)
        while data and len(data) < size and (more := self.read1(size - len(data))):
            data += more
        return data


def _checked_size(paths: Sequence[Path]) -> int | None:
    """The total size of all files; None if one of them has no size."""
    if paths.count(STDIN) > 1:
        raise WrongSettings("-: standard input can be read only once")
    sizes: list[int | None] = []
    for path in paths:
        if path == STDIN:
            sizes.append(None)
            continue
        try:
            status = path.stat()
        except (OSError, ValueError) as error:  # ValueError: a name with U+0000
            raise WrongSettings(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None
        if stat.S_ISDIR(status.st_mode):
            raise WrongSettings(f"{path}: is a folder; name the files in it")
        if not os.access(path, os.R_OK):
            raise WrongSettings(f"{path}: may not be read by this user")
        sizes.append(status.st_size if stat.S_ISREG(status.st_mode) else None)
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
