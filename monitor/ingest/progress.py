"""Tracks up to which time each partition was stored, so that alert rules know which windows are complete."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock

from monitor.core.message import Offset, Partition, Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class _Look:
    """The end of a log at some time."""

    at: datetime
    end: int


@dataclass(slots=True, kw_only=True)
class _Reached:
    stored: int
    through: datetime | None = None
    ahead: _Look | None = None  # the earliest that is not reached yet
    end: int = 0  # at the last look


class PartitionProgress:
    """The stored offset of each partition, compared with the ends of its log at earlier looks. Threads may share it.

    All that had arrived at the time of a look is stored once the end of that look is. While we are behind, what was
    stored reaches to the arrival of its last message.
    """

    def __init__(self) -> None:
        self._partitions: dict[Partition, _Reached] = {}
        self._lock = Lock()

    def placed(self, partition: Partition, at: int) -> None:
        """Everything before this offset is stored, or need not be read."""
        with self._lock:
            self._partitions[partition] = _Reached(stored=at)

    def forget(self, partitions: Iterable[Partition]) -> None:
        """Forgets partitions that this process no longer reads."""
        with self._lock:
            for partition in partitions:
                self._partitions.pop(partition, None)

    def looked(self, at: datetime, ends: Mapping[Partition, int]) -> None:
        """Records the ends of logs, which were looked up after `at`."""
        with self._lock:
            for partition, end in ends.items():
                reached = self._partitions.get(partition)
                if reached is not None:
                    reached.end = end
                    if reached.through is not None:  # by a clock that was ahead: nothing is known of the future
                        reached.through = min(reached.through, at)
                    if reached.ahead is None or reached.ahead.at > at:
                        reached.ahead = _Look(at=at, end=end)
                    _settle(reached)

    def stored(self, offsets: Sequence[Offset]) -> None:
        """Records that the offsets are stored."""
        with self._lock:
            for o in offsets:
                reached = self._partitions.get((o.topic, o.partition))
                if reached is None:
                    continue
                reached.stored = o.next
                if o.arrived is not None:
                    _move(reached, o.arrived)
                _settle(reached)

    def progress(self) -> tuple[Progress, ...]:
        """The progress of every partition with a known end."""
        with self._lock:
            return tuple(
                Progress(
                    topic=topic,
                    partition=number,
                    through=reached.through,
                    behind=max(reached.end - reached.stored, 0),
                )
                for (topic, number), reached in sorted(self._partitions.items())
                if reached.through is not None
            )


def _settle(reached: _Reached) -> None:
    if reached.ahead is not None and reached.stored >= reached.ahead.end:
        _move(reached, reached.ahead.at)
        reached.ahead = None


def _move(reached: _Reached, through: datetime) -> None:
    reached.through = through if reached.through is None else max(reached.through, through)


class FileProgress:
    """Tracks the progress of files, whose batches are stored in order. Threads may share it."""

    def __init__(self) -> None:
        self._at_end: dict[str, datetime] = {}  # since what was handed on last
        self._ahead: deque[tuple[int, dict[str, datetime]]] = deque()  # what is so once so many batches are stored
        self._handed_on = self._stored = 0
        self._through: dict[str, datetime] = {}
        self._unread: set[str] = set()
        self._lock = Lock()

    def at_end(self, name: str, at: datetime) -> None:
        """Everything that the file held at that time is in the next batch to be handed over, or in an earlier one."""
        with self._lock:
            self._at_end[name] = at

    def handed_on(self, offsets: Sequence[Offset]) -> None:
        """The messages since the last call form a batch, unless there are none."""
        with self._lock:
            self._handed_on += bool(offsets)
            self._unread = self._through.keys() - self._at_end
            if self._ahead and self._ahead[-1][0] == self._handed_on:
                self._ahead[-1][1].update(self._at_end)
            else:
                self._ahead.append((self._handed_on, self._at_end))
            self._at_end = {}
            self._settle()

    def stored(self, offsets: Sequence[Offset]) -> None:
        """The oldest batch in flight is stored."""
        with self._lock:
            self._stored += bool(offsets)
            self._settle()

    def progress(self) -> tuple[Progress, ...]:
        """The progress of every file whose end was reached."""
        with self._lock:
            waiting = self._unread.union(*(ends for _, ends in self._ahead))
            return tuple(
                Progress(topic=name, partition=0, through=through, behind=int(name in waiting))
                for name, through in sorted(self._through.items())
            )

    def _settle(self) -> None:
        while self._ahead and self._ahead[0][0] <= self._stored:
            _, ends = self._ahead.popleft()
            self._through.update(ends)
