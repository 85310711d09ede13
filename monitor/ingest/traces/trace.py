"""The spans and log records of one trace, each once, as a forest without cycles."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic_core import to_json

from monitor.core.trace import LogRecord, Span


@dataclass(frozen=True)
class Trace:
    """What has arrived of a trace, in any order, with repeats. Every view of it is the same for every order.

    Of spans that share an id, one counts: the last to end, then the one with most attributes.
    """

    spans: Sequence[Span]
    logs: Sequence[LogRecord] = ()

    @cached_property
    def trace_id(self) -> str:
        parts: list[Span | LogRecord] = [*self.spans[:1], *self.logs[:1]]
        return parts[0].trace_id if parts else ""

    @cached_property
    def by_id(self) -> Mapping[str, Span]:
        """The spans by id, in the order in which they started."""
        found: dict[str, Span] = {}
        for span in self.spans:
            before = found.get(span.span_id)
            if before is None or (before is not span and _fullness(span) > _fullness(before)):
                found[span.span_id] = span
        return {span.span_id: span for span in sorted(found.values(), key=_order)}

    @cached_property
    def logs_of(self) -> Mapping[str, Sequence[LogRecord]]:
        """The log records of each span, in the order of their times."""
        found: dict[str, list[LogRecord]] = defaultdict(list)
        seen = set()
        for log in sorted(self.logs, key=lambda log: (log.at, log.name, _content(log))):
            key = (log.span_id, log.at, log.name, _content(log))
            if key not in seen:
                seen.add(key)
                found[log.span_id].append(log)
        return found

    @cached_property
    def parent_of(self) -> Mapping[str, str | None]:
        """The parent of each span, if it has arrived; a cycle is cut where its first span started."""
        parents: dict[str, str | None] = {}
        for span in self.by_id.values():
            parents[span.span_id] = span.parent_id if span.parent_id in self.by_id else None
        state: dict[str, int] = {}  # the span from which a walk upwards came by, as a number
        for number, start in enumerate(parents):
            at: str | None = start
            while at is not None and at not in state:
                state[at] = number
                at = parents[at]
            if at is not None and state[at] == number:
                parents[self._first_of_cycle(at, parents)] = None
        return parents

    @cached_property
    def children_of(self) -> Mapping[str | None, Sequence[str]]:
        """The children of each span in the order of their start; under None those without a parent here."""
        found: dict[str | None, list[str]] = defaultdict(list)
        for span_id, parent_id in self.parent_of.items():
            found[parent_id].append(span_id)
        return found

    @cached_property
    def depth_of(self) -> Mapping[str, int]:
        depths: dict[str, int] = {}
        level, depth = list(self.children_of.get(None, ())), 0
        while level:
            depths.update(dict.fromkeys(level, depth))
            level = [child for span_id in level for child in self.children_of.get(span_id, ())]
            depth += 1
        return depths

    def ancestors(self, span_id: str) -> Iterator[str]:
        """The parent, its parent, and so on; none twice."""
        at = self.parent_of.get(span_id)
        while at is not None:
            yield at
            at = self.parent_of.get(at)

    @property
    def started(self) -> int:
        """When the first span started, in nanoseconds since 1970; when the last one ended if none says so."""
        return min((span.started for span in self.by_id.values() if span.started), default=self.ended)

    @property
    def ended(self) -> int:
        return max((span.ended or span.started for span in self.by_id.values()), default=0)

    def _first_of_cycle(self, at: str, parents: Mapping[str, str | None]) -> str:
        members, step = [at], parents[at]
        while step is not None and step != at:
            members.append(step)
            step = parents[step]
        return min(members, key=lambda span_id: _order(self.by_id[span_id]))


def _order(span: Span) -> tuple[int, str]:
    return span.started, span.span_id


def _fullness(span: Span) -> tuple[int, int, bytes]:
    return span.ended, len(span.attributes), to_json(span, inf_nan_mode="null")


def _content(log: LogRecord) -> bytes:
    return to_json([log.body, log.attributes], inf_nan_mode="null")
