"""A fake of the intake, which passes the contract suite of the real one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock

from monitor.core.errors import InvalidMessage, Retriable
from monitor.core.message import DeadLetter, Message
from monitor.core.trace import Collected, Span
from monitor.ingest.decode import Decoder


@dataclass(slots=True, kw_only=True)
class MemoryIntake:
    """Keeps everything in memory. While `trouble` is set, every method raises it and keeps nothing.

    `collected` and `messages` are what was kept, each message with the app of its sender.
    """

    max_spans: int = 10_000  # of one trace
    trouble: Retriable | None = None
    collected: list[Collected] = field(default_factory=list)
    messages: list[tuple[Message, str | None]] = field(default_factory=list)
    _decoder: Decoder = field(default_factory=Decoder)
    _parts: dict[str, set[str]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def spans(self, collected: Collected) -> int:
        with self._lock:
            if self.trouble is not None:
                raise self.trouble
            kept = tuple(self._within_limits(collected.spans))
            self.collected.append(replace(collected, spans=kept))
            return len(collected.spans) - len(kept)

    def events(self, messages: Sequence[Message], *, app: str | None = None) -> Sequence[DeadLetter]:
        with self._lock:
            if self.trouble is not None:
                raise self.trouble
            unreadable = []
            for message in messages:
                try:
                    self._decoder.decode(message)
                except InvalidMessage as error:
                    unreadable.append(DeadLetter(message=message, path=error.path, problem=error.problem))
                else:
                    self.messages.append((message, app))
            return unreadable

    def _within_limits(self, spans: Iterable[Span]) -> Iterable[Span]:
        for span in spans:
            parts = self._parts.setdefault(span.trace_id, set())
            if span.span_id in parts or len(parts) < self.max_spans:
                parts.add(span.span_id)
                yield span
