"""A source whose reads are measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from monitor.core.message import Message
from monitor.core.ports import Source


class TimedSource:
    """Tells `read` how many seconds a poll took that brought messages; waiting for the first of them counts too."""

    def __init__(self, source: Source, read: Callable[[float], None]) -> None:
        self._poll = source.poll
        self._read = read
        self.offsets, self.hold, self.progress = source.offsets, source.hold, source.progress
        self.stored, self.fenced, self.close = source.stored, source.fenced, source.close

    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:
        began = perf_counter()
        messages = self._poll(max_messages=max_messages, max_bytes=max_bytes, timeout=timeout)
        if messages:
            self._read(perf_counter() - began)
        return messages
