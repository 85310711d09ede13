"""Follows files as a chatbot appends to them, and keeps its position in each.

A position is a byte offset in one file. Inode and first line identify the file, so that it is not mistaken for its
successor. A renamed file is read along with its successor until it stops growing. After a restart a renamed file is not
found again, even if some of it was not read: give it to `monitor replay`.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event
from time import monotonic

from typing_extensions import override

from monitor.core.errors import Fatal, Fenced, WrongSettings
from monitor.core.message import Message, Offset, Position, Progress
from monitor.core.ports import Source
from monitor.ingest.compression import is_compressed
from monitor.ingest.file_offsets import FileOffsets
from monitor.ingest.progress import FileProgress
from monitor.ingest.records import Form, form_of

DRAIN = timedelta(seconds=60)  # without growth, after which a replaced file counts as complete
_CHUNK_BYTES = 256 * 1024
_HEAD_BYTES = 1024

_Line = tuple[Position, bytes, int]  # position, value up to the limit, full length


class FollowSource(Source):
    """Reads whole lines of `paths` from the offsets in `known` on, and waits for more until `stop` is set.

    Waits for paths that do not exist yet. Cuts a line longer than `max_message_bytes` one byte after that limit. A
    position is (file, 0, byte offset of the line); the file is named `<real path>#<inode>-<hash>`, as in the offsets.

    A replaced file comes before its successor in each poll, until it has not grown for `DRAIN` by `clock`; only then
    does its last line count without a line end. A file that is shorter than what was read of it, or has another first
    line, or no line end where reading stopped, was emptied in place; it is read from its start, and its offset goes
    back.

    Raises:
        WrongSettings: two paths are the same file, or a path is no readable plain file, or is compressed or a table.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        known: Mapping[str, int],
        now: Callable[[], datetime],
        max_message_bytes: int,
        stop: Event,
        clock: Callable[[], float] = monotonic,  # in seconds; unlike `now`, nobody sets it
    ) -> None:
        seen = dict[Path, Path]()
        for path in paths:
            real = _checked(path)
            if real in seen:
                raise WrongSettings(f"{_storable(path)}: is the same file as {_storable(seen[real])}; name it once")
            seen[real] = path
        self._offsets = FileOffsets(known)
        self._progress = FileProgress()
        self._tails = [_Tail(path, real, self._offsets, max_message_bytes, stop) for real, path in seen.items()]
        self.paths = tuple(tail.name for tail in self._tails)  # as `progress` names them
        self._now, self._clock, self._stop, self._first = now, clock, stop, 0

    @override
    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        """The next messages; None once `stop` is set.

        Raises:
            Fatal: a file cannot be read, or was replaced by a compressed one.
        """
        if self._stop.is_set():
            return None
        received_at, messages, size = self._now(), list[Message](), 0
        first, self._first = self._first, (self._first + 1) % len(self._tails)  # a busy file must not starve the others
        for tail in self._tails[first:] + self._tails[:first]:
            for position, value, length in tail.lines(self._clock()):
                if length > len(value) or value.strip():
                    messages.append(Message(value=value, position=position, received_at=received_at, size=length))
                    size += len(value)
                    self._offsets.received[position.topic] += 1
                if len(messages) >= max_messages or size >= max_bytes:
                    return messages
            if not self._stop.is_set():
                self._progress.at_end(tail.name, received_at)
        if not messages:
            self._stop.wait(timeout)
        return messages

    @override
    def offsets(self) -> tuple[Offset, ...]:
        offsets = tuple(self._offsets.advanced())
        self._progress.handed_on(offsets)
        return offsets

    @override
    def hold(self) -> None:
        pass

    @override
    def stored(self, offsets: Sequence[Offset]) -> None:
        self._progress.stored(offsets)

    @override
    def progress(self) -> tuple[Progress, ...]:
        return self._progress.progress()

    @override
    def fenced(self, offsets: Sequence[Offset], error: Fenced) -> None:
        raise Fenced(f"{error}; only one process can follow a file: stop the other one") from error

    @override
    def close(self) -> None:
        for tail in self._tails:
            tail.close()


class _Tail:
    """One path: its current file, and replaced files that may still grow."""

    def __init__(self, path: Path, real: Path, offsets: FileOffsets, limit: int, stop: Event) -> None:
        self.name, self._path = _storable(real), path
        self._offsets = offsets
        self._limit = limit
        self._stop = stop
        self._file: _File | None = None
        self._replaced: list[_File] = []  # oldest first

    def lines(self, now: float) -> Iterator[_Line]:
        """Every whole line that is there now; replaced files come first."""
        if self._file is None or self._is_replaced(self._file):
            opened = self._open()  # before the old file is read, so that no line can slip in between
            if opened is not None and self._file is not None:
                self._replaced.append(self._file)
            self._file = opened or self._file
        for file in tuple(self._replaced):
            yield from file.lines(final=False)
            if file.is_quiet(now):
                yield from file.lines(final=True)
                file.close()
                self._replaced.remove(file)
        if self._file is not None:
            yield from self._file.lines(final=False)

    def close(self) -> None:
        for file in (*self._replaced, self._file):
            if file is not None:
                file.close()
        self._file, self._replaced = None, []

    def _is_replaced(self, file: _File) -> bool:
        try:
            return not os.path.samestat(file.stat(), self._path.stat())
        except FileNotFoundError:
            return False  # moved away, and no successor exists yet
        except OSError as error:
            raise Fatal(f"{_storable(self._path)}: cannot be read: {error.strerror}") from None

    def _open(self) -> _File | None:
        try:
            real, raw = self._path.resolve(), self._path.open("rb", buffering=0)
        except FileNotFoundError:
            return None
        except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links
            raise Fatal(f"{_storable(self._path)}: cannot be read: {_reason(error)}") from None
        file = _File(_storable(real), raw, self._offsets, self._limit, self._stop)
        for other in tuple(self._replaced):
            if os.path.samestat(other.stat(), file.stat()):  # renamed, and then renamed back
                other.close()
                self._replaced.remove(other)
        return file


class _File:
    """One open file, whatever its name is by now; read from its offset on, once the first line is whole."""

    def __init__(self, name: str, raw: io.FileIO, offsets: FileOffsets, limit: int, stop: Event) -> None:
        self._name = name
        self._raw = raw
        self._buffer = io.BufferedReader(raw)
        self._offsets = offsets
        self._limit = limit
        self._stop = stop
        self._topic = ""  # not known until the first line is whole
        self._head = b""  # the first line, or as much of it as tells the file
        self._offset = 0
        self._emptied = False
        self._ended = True  # whether reading stopped behind the end of a line
        self._grown: tuple[int, float] | None = None  # size, and when it was first seen

    def stat(self) -> os.stat_result:
        return os.fstat(self._raw.fileno())

    def close(self) -> None:
        self._buffer.close()

    def is_quiet(self, now: float) -> bool:
        """Whether the file has not grown for `DRAIN`, as seen by the calls of this method."""
        size = self.stat().st_size
        if self._grown is None or self._grown[0] != size:
            self._grown = size, now
        return now - self._grown[1] >= DRAIN.total_seconds()

    def lines(self, *, final: bool) -> Iterator[_Line]:
        """Every whole line that is there now; with `final`, also a last line without its end."""
        if self._was_emptied():
            self._topic, self._offset, self._emptied, self._ended = "", 0, True, True
        if not self._topic and not self._identify(final=final):
            return
        while not self._stop.is_set() and (line := self._buffer.readline(self._limit + 2)):
            length, ended = len(line), line.endswith(b"\n")
            digest = self._offsets.digest(self._topic, self._offset)
            digest.update(line)
            while not ended and length > self._limit + 1 and (rest := self._buffer.readline(_CHUNK_BYTES)):
                digest.update(rest)
                length, ended = length + len(rest), rest.endswith(b"\n")
                if self._stop.is_set():
                    return
            if not ended and not final:
                self._seek()
                return
            position = Position(topic=self._topic, partition=0, offset=self._offset)
            self._offset, self._ended = self._offset + length, ended
            self._offsets.add_line(self._topic, position.offset, self._offset, digest)
            value = line.rstrip(b"\r\n") if length == len(line) else line
            yield position, value[: self._limit + 1], length - ended if length > len(line) else len(value)

    def _was_emptied(self) -> bool:
        """Whether the file was emptied in place since it was read, also where it has grown past that place by now."""
        if not self._topic:
            return False
        file = self._raw.fileno()
        return (
            self.stat().st_size < self._offset
            or os.pread(file, len(self._head), 0) != self._head
            or (self._ended and self._offset > 0 and os.pread(file, 1, self._offset - 1) != b"\n")
        )

    def _identify(self, *, final: bool) -> bool:
        """Finds the file's name and offset, if its first line is whole."""
        head = os.pread(self._raw.fileno(), _HEAD_BYTES, 0)
        _refuse_compressed(self._name, head)
        line, end, _ = head.partition(b"\n")
        if not end and len(head) < _HEAD_BYTES and not (final and head):
            return False
        status, self._head = self.stat(), line + end
        self._topic = f"{self._name}#{status.st_ino}-{hashlib.sha256(line + end).hexdigest()[:16]}"
        place = self._offsets[self._topic]
        self._offset = 0 if self._emptied or place > status.st_size else place
        self._emptied = False
        self._seek()
        return True

    def _seek(self) -> None:
        """Goes back to the offset and drops what was read after it, since that may still change."""
        self._buffer.detach()
        self._raw.seek(self._offset)
        self._buffer = io.BufferedReader(self._raw)


def _checked(path: Path) -> Path:
    """The real path of a file that can be followed, or that does not exist yet."""
    try:
        real = path.resolve()
        if form_of(path) is Form.TABLE:
            raise WrongSettings(f"{_storable(path)}: only JSON lines can be followed; `monitor replay` reads tables")
        if path.is_dir():
            raise WrongSettings(f"{_storable(path)}: is a folder; name the files in it")
        if path.is_file():
            with path.open("rb") as file:
                _refuse_compressed(_storable(path), file.read(_HEAD_BYTES))
        elif path.exists():
            raise WrongSettings(f"{_storable(path)}: is not a plain file; `-` reads standard input")
    except (OSError, RuntimeError, ValueError) as error:  # a loop of symbolic links; a name with U+0000
        raise WrongSettings(f"{_storable(path)}: cannot be read: {_reason(error)}") from None
    return real


def _refuse_compressed(name: str, head: bytes) -> None:
    if is_compressed(head):
        raise WrongSettings(f"{name}: is compressed and cannot be followed; give it to `monitor replay`")


def _storable(path: Path) -> str:
    """The path in UTF-8, with bytes that are no text as escapes."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
