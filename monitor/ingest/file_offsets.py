"""How far each followed file was read, and a digest of what was read since the last batch."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from monitor.core.message import FileSpan, Offset

if TYPE_CHECKING:
    from hashlib import _Hash


@dataclass(slots=True)
class _ReadBytes:
    first: int
    next: int
    lines: int = 0
    digest: _Hash = field(default_factory=hashlib.sha256)


class FileOffsets:
    """The offset of each file: as stored, and as read since then."""

    def __init__(self, known: Mapping[str, int]) -> None:
        self._known = dict(known)
        self._read: dict[str, _ReadBytes] = {}
        self.received: Counter[str] = Counter()  # messages since the last call of `advanced`

    def __getitem__(self, topic: str) -> int:
        read = self._read.get(topic)
        return self._known.get(topic, 0) if read is None else read.next

    def digest(self, topic: str, start: int) -> _Hash:
        """A digest to add the line at `start` to; it begins anew where the file does."""
        read = self._read.get(topic)
        return hashlib.sha256() if read is None or read.next != start else read.digest.copy()

    def add_line(self, topic: str, start: int, end: int, digest: _Hash) -> None:
        """A whole line of bytes [start, end) was read, and added to what `digest` gave."""
        read = self._read.get(topic)
        if read is None or read.next != start:
            read = self._read[topic] = _ReadBytes(start, start)
        read.next, read.digest = end, digest
        read.lines += 1

    def advanced(self) -> Iterator[Offset]:
        """One offset for each file that was read since the last call."""
        moved, self._read = self._read, {}
        received, self.received = self.received, Counter()
        for topic, read in moved.items():
            yield Offset(
                topic=topic,
                partition=0,
                expected=self._known.get(topic),
                next=read.next,
                received=received[topic],
                file=FileSpan(first=read.first, lines=read.lines, sha256=read.digest.hexdigest()),
            )
            self._known[topic] = read.next
