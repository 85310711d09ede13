"""Spans and log records as bytes, with a digest by which one that arrives again is recognised."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

from pydantic_core import from_json, to_json

from monitor.core.trace import Collected, LogRecord, Span, SpanEvent
from monitor.ingest.traces.arrival import is_root, shows_answer

TraceKey: TypeAlias = tuple[str, str]  # the app that was given, '' if none was, and the id of the trace
DIGEST_BYTES = 16
_LATEST = 2**63 - 1  # of the column


class Part(NamedTuple):
    """A span or log record as it is kept."""

    digest: bytes
    log: bool
    value: bytes


@dataclass(slots=True)
class Arrival:
    """What arrived of one trace together: its parts, each once, and what its row remembers of them."""

    parts: dict[bytes, Part] = field(default_factory=dict)
    offered: int = 0
    started: int = _LATEST
    ended: int = 0
    root: bool = False
    answer: bool = False

    @property
    def bytes(self) -> int:
        """The length of all parts together."""
        return sum(len(part.value) for part in self.parts.values())


Arrivals: TypeAlias = Mapping[TraceKey, Arrival]


def arrivals(collected: Iterable[Collected]) -> Arrivals:
    """The spans and log records by trace, in the order in which all writers lock the rows of traces."""
    found: defaultdict[TraceKey, Arrival] = defaultdict(Arrival)
    for each in collected:
        app = each.app or ""
        for span in each.spans:
            arrival = found[app, span.trace_id]
            _add(arrival, span, log=False)
            arrival.started = min(arrival.started, max(span.started, 0))
            arrival.ended = max(arrival.ended, min(span.ended, _LATEST))
            arrival.root |= is_root(span)
            arrival.answer |= shows_answer(span)
        for record in each.logs:
            _add(found[app, record.trace_id], record, log=True)
    return dict(sorted(found.items()))


def read_parts(parts: Sequence[tuple[bool, bytes]]) -> tuple[list[Span], list[LogRecord]]:
    """The spans and log records of kept values, each with whether it is a log record."""
    spans = [span_of(from_json(value)) for log, value in parts if not log]
    return spans, [LogRecord(**from_json(value)) for log, value in parts if log]


def _add(arrival: Arrival, part: Span | LogRecord, *, log: bool) -> None:
    value = to_json(part)
    digest = blake2b(value, digest_size=DIGEST_BYTES).digest()
    arrival.parts.setdefault(digest, Part(digest, log, value))
    arrival.offered += 1


def span_of(fields: dict[str, Any]) -> Span:
    """The span whose fields these are, as `to_json` writes them."""
    return Span(**{**fields, "events": tuple(SpanEvent(**event) for event in fields["events"])})
