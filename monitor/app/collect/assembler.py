"""Makes turns of traces that are due, and appends them to the inbox. Any number of replicas may do so."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from monitor.core.errors import MonitorError
from monitor.ingest.traces.event import native_event
from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turn import NoTurn, Turn
from monitor.ingest.traces.turns import turns
from monitor.store.collect.due import LEASE, DueTrace
from monitor.store.collect.parts import read_parts
from monitor.store.collect.store import CollectStore, RawParts

log = logging.getLogger(__name__)
AT_A_TIME = 200  # traces
_MOST_BYTES = 32 * 2**20  # of the traces that are in memory together
Resolve = Callable[[Sequence[tuple[str, Turn]]], list[Turn]]  # turns with their apps, to turns with texts of documents
Made = tuple[DueTrace, bytes | None]  # a trace, and the event of its turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembler:
    """Claims, assembles and closes traces. `app` is that of turns whose sender and spans name none."""

    store: CollectStore
    app: str
    resolve: Resolve = lambda named: [turn for _, turn in named]

    def round(self) -> int:
        """Closes what is due, a batch at most; returns how many traces were due.

        A trace that cannot be assembled, or whose documents cannot be looked up, is tried again after its claim ends,
        and closed without a turn, or without those texts, when it has been open for the longest time.
        """
        claimed = self.store.claim(AT_A_TIME)
        for group in _groups(claimed):
            parts = self.store.parts([trace.key for trace in group])
            self.store.close_traces([made for trace in group for made in self._made(trace, parts[trace.key])])
        return len(claimed)

    def purge(self) -> None:
        """Deletes the spans of traces that closed long enough ago."""
        while self.store.purge():
            pass

    def _made(self, trace: DueTrace, parts: RawParts) -> Iterator[Made]:
        """The event of a trace, or nothing if it is to be tried again."""
        try:
            yield self._closing(trace, parts)
        except MonitorError as error:
            log.warning("trace %s: %s; trying again", trace.trace_id, error, extra={"app": trace.app})
        except Exception:
            log.exception("trace %s cannot be assembled, a defect", trace.trace_id, extra={"app": trace.app})
            if self._too_old(trace):
                yield trace, None

    def _closing(self, trace: DueTrace, parts: RawParts) -> Made:
        """The trace with its event. A turn keeps the app of its first event, whatever a root that comes later says."""
        turn = self._turn(trace, parts)
        if isinstance(turn, NoTurn):
            return trace, None
        app = trace.app or trace.turn_app or turn.service or self.app
        try:
            [turn] = self.resolve([(app, turn)])
        except MonitorError:
            if not self._too_old(trace):
                raise
        return replace(trace, turn_app=app), native_event(turn, app=app)

    def _turn(self, trace: DueTrace, parts: RawParts) -> Turn | NoTurn:
        """The turn of a trace; a lone span that would be one is compared with the traces around it."""
        own = _trace(parts)
        [turn] = turns([own])
        if isinstance(turn, NoTurn) or trace.spans > 1:
            return turn
        around = self.store.parts(self.store.around(trace))
        [turn] = turns([own], around=[_trace(others) for others in around.values()])
        return turn

    def _too_old(self, trace: DueTrace) -> bool:
        claimed = trace.lease - timedelta(seconds=LEASE)
        return claimed - trace.first_at > timedelta(seconds=self.store.limits.longest)


def _trace(parts: RawParts) -> Trace:
    return Trace(*read_parts(parts))


def _groups(traces: Sequence[DueTrace]) -> Iterator[list[DueTrace]]:
    """The traces in order, in groups that fit into memory together."""
    group: list[DueTrace] = []
    size = 0
    for trace in traces:
        if group and size + trace.bytes > _MOST_BYTES:
            yield group
            group, size = [], 0
        group.append(trace)
        size += trace.bytes
    if group:
        yield group
