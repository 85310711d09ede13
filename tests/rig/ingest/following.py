"""Reads followed files one poll at a time, without waiting."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from threading import Event

from monitor.ingest.follow import FollowSource
from tests.factories.assess.interactions import NOON

LIMIT = 20


class Stop(Event):
    """An event that nobody waits for; it keeps the times it was to be waited for."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout)
        return self.is_set()


class Reader:
    """A source with the database's memory of its offsets: `restart` loses everything else."""

    def __init__(self, *paths: Path, limit: int = LIMIT) -> None:
        self.paths, self.limit = paths, limit
        self.known: dict[str, int] = {}
        self.stop = Stop()
        self.now = NOON
        self.clock_set_by = timedelta()  # how far somebody has set the clock of `now`
        self._open()

    def _open(self) -> None:
        self.source = FollowSource(
            self.paths,
            known=self.known,
            now=lambda: self.now + self.clock_set_by,
            max_message_bytes=self.limit,
            stop=self.stop,
            clock=self._elapsed,
        )

    def _elapsed(self) -> float:
        return (self.now - NOON).total_seconds()

    def restart(self) -> None:
        self.source.close()
        self._open()

    def poll(self, *, max_messages: int = 1000, max_bytes: int = 10**6):
        return self.source.poll(max_messages=max_messages, max_bytes=max_bytes, timeout=0.25)

    def read(self, **limits) -> list[bytes]:
        """The values of one poll, whose offsets are then stored, each fenced by the one before."""
        messages = self.poll(**limits)
        offsets = self.source.offsets()
        for offset in offsets:
            assert self.known.get(offset.topic) == offset.expected
            offset.topic.encode()  # as the database stores it
            self.known[offset.topic] = offset.next
        self.source.stored(offsets)
        return [message.value for message in messages]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)
