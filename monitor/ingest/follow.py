"""Files that a chatbot appends to, read as they grow, as a `Source` that keeps its place.

The place is a byte offset in one file, known by its inode and its first line, so that a file is not mistaken for its
successor. While it runs, what a renamed file still holds is read before the new one begins; what was not read of a file
that was renamed while nobody ran can be given to `monitor replay`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import BinaryIO

from monitor.errors import Fatal, WrongSettings
from monitor.model import Message, Offset, Position

_CHUNK_BYTES = 256 * 1024
_HEAD_BYTES = 1024


class FollowSource:
    """Reads whole lines of `paths` from the offsets in `known` on, and waits for more until `stop` is set.

    A path that does not exist yet is waited for. A line longer than `max_message_bytes` is cut one byte after that. A
    position is (path, 0, byte offset of the line).
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        known: Mapping[str, int],
        now: Callable[[], datetime],
        max_message_bytes: int,
        stop: Event,
    ) -> None:
        for path in paths:
            if path.is_dir():
                raise WrongSettings(f"{path}: is a folder; name the files in it")
        self._tails = [_Tail(path, known, max_message_bytes) for path in paths]
        self._first = 0
        self._now = now
        self._stop = stop

    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        """As the port says; None once `stop` is set."""
        if self._stop.is_set():
            return None
        received_at, messages, size = self._now(), list[Message](), 0
        first, self._first = self._first, (self._first + 1) % len(self._tails)  # a busy file must not starve the others
        for tail in self._tails[first:] + self._tails[:first]:
            for position, value, length in tail.lines():
                if length > len(value) or value.strip():
                    messages.append(Message(value=value, position=position, received_at=received_at, size=length))
                    size += len(value)
                if len(messages) >= max_messages or size >= max_bytes:
                    return messages
        if not messages:
            self._stop.wait(timeout)
        return messages

    def offsets(self) -> tuple[Offset, ...]:
        """How far each file was read since the last call, counting what every poll so far has given."""
        return tuple(offset for tail in self._tails for offset in tail.advanced())

    def stored(self, messages: Sequence[Message]) -> None:
        """Nothing to do: the offsets went into the transaction."""

    def close(self) -> None:
        """Closes the files."""
        for tail in self._tails:
            tail.close()


class _Tail:
    """One path, and the file that is read under it now."""

    def __init__(self, path: Path, known: Mapping[str, int], limit: int) -> None:
        self._path = path
        self._known = dict(known)
        self._limit = limit
        self._file: BinaryIO | None = None
        self._topic = ""
        self._offset = 0
        self._moved: dict[str, int] = {}  # file → offset reached since `advanced` was asked

    def lines(self) -> Iterator[tuple[Position, bytes, int]]:
        """Every whole line that is there now: its position, its first bytes, and its length."""
        file = self._file or self._open()
        while file is not None:
            yield from self._whole_lines(file, final=False)
            if not self._replaced(file):
                return
            yield from self._whole_lines(file, final=True)
            self.close()
            file = self._open()

    def advanced(self) -> Iterator[Offset]:
        """One offset per file that was read on since the last call."""
        moved, self._moved = self._moved, {}
        for topic, reached in moved.items():
            yield Offset(topic=topic, partition=0, expected=self._known.get(topic), next=reached)
            self._known[topic] = reached

    def close(self) -> None:
        """Closes the file, if one is open."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self) -> BinaryIO | None:
        """None where there is no file yet, or not one whole line in it."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Fatal(f"{self._path}: cannot be read: {error.strerror}") from None
        head = file.readline(_HEAD_BYTES)
        if not head.endswith(b"\n") and len(head) < _HEAD_BYTES:
            file.close()
            return None
        self._topic = f"{self._path}#{os.fstat(file.fileno()).st_ino}-{hashlib.sha256(head).hexdigest()[:16]}"
        self._offset = self._known.get(self._topic, 0)
        file.seek(self._offset)
        self._file = file
        return file

    def _replaced(self, file: BinaryIO) -> bool:
        """Whether the path names another file now, or this one became shorter than what was read of it."""
        ours = os.fstat(file.fileno())
        try:
            theirs = self._path.stat()
        except FileNotFoundError:
            return False  # moved away, and its successor is not there yet: more may still be written to it
        return ours.st_size < self._offset or (ours.st_dev, ours.st_ino) != (theirs.st_dev, theirs.st_ino)

    def _whole_lines(self, file: BinaryIO, *, final: bool) -> Iterator[tuple[Position, bytes, int]]:
        """`final` counts a last line without its end as whole: nobody writes to the file any more."""
        while line := file.readline(self._limit + 2):
            length, ended = len(line), line.endswith(b"\n")
            while not ended and length > self._limit + 1 and (rest := file.readline(_CHUNK_BYTES)):
                length, ended = length + len(rest), rest.endswith(b"\n")
            if not ended and not final:
                file.seek(self._offset)
                return
            position = Position(topic=str(self._path), partition=0, offset=self._offset)
            self._offset += length
            self._moved[self._topic] = self._offset
            value = line.rstrip(b"\r\n") if length == len(line) else line
            yield position, value[: self._limit + 1], length - ended if length > len(line) else len(value)
