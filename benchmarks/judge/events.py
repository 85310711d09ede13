"""Measures how soon an event is stored with the judge off and saturated: events at a fixed rate, in this process."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import numpy as np

from benchmarks.judge.cases import made
from benchmarks.judge.rig import cleared, queue
from benchmarks.traffic import event
from monitor.__main__ import ALLOCATIONS_BETWEEN_COLLECTIONS
from monitor.app.pending.worker_process import worker_process
from monitor.app.wiring.application import Application, utc_now
from monitor.core.batch import Batch, Tally
from monitor.core.errors import Fenced
from monitor.core.message import Message, Offset, Position, Progress
from monitor.core.settings.load import Settings

_WARM = 5.0  # seconds until the maximum of calls is in flight


@dataclass(slots=True, kw_only=True)
class PacedSource:
    """A source whose events arrive at a fixed rate from its first poll on, however slowly they are fetched."""

    values: Sequence[bytes]
    rate: float
    begin: float | None = None
    delays: list[float] = field(default_factory=list)  # seconds from arrival to commit
    _given: int = 0

    def arrival(self, number: int) -> float:
        return (self.begin or 0.0) + number / self.rate

    def poll(self, *, max_messages: int, max_bytes: int, timeout: float) -> Sequence[Message] | None:  # noqa: ARG002
        if self.begin is None:
            self.begin = time.perf_counter()
        if self._given == len(self.values):
            return None
        time.sleep(min(timeout, max(0.0, self.arrival(self._given) - time.perf_counter())))
        due = int((time.perf_counter() - self.begin) * self.rate) + 1
        first, self._given = self._given, max(self._given, min(due, len(self.values), self._given + max_messages))
        return [
            Message(
                value=self.values[n],
                position=Position(topic="paced", partition=0, offset=n),
                received_at=utc_now(),
                size=len(self.values[n]),
            )
            for n in range(first, self._given)
        ]

    def written(self, batch: Batch, _: Tally) -> None:
        """Records the delays of a committed batch."""
        now = time.perf_counter()
        positions = [a.interaction.position for a in batch.assessments]
        self.delays += [now - self.arrival(position.offset) for position in positions if position is not None]

    def offsets(self) -> tuple[Offset, ...]:
        return ()

    def hold(self) -> None: ...

    def stored(self, offsets: Sequence[Offset]) -> None: ...

    def fenced(self, offsets: Sequence[Offset], error: Fenced) -> None:  # noqa: ARG002  it stores no offsets
        raise error

    def progress(self) -> tuple[Progress, ...]:
        return ()

    def close(self) -> None: ...


def event_path(given: Settings, rate: float, seconds: float, waiting: int, seed: int) -> dict[str, Any]:
    """Delays of events while `waiting` others are queued for the judge, if there is one. Run it in a fresh process."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)  # as the command does
    logging.getLogger("monitor.app.wiring.models").setLevel(
        logging.ERROR
    )  # it warns of the hash embedder, which is intended
    events = made(round(rate * seconds), seed, first=waiting)
    source = PacedSource(values=[event(it.interaction()).encode() for it in events], rate=rate)
    with Application(given) as application:
        application.prepare()
        cleared(application)
        queue(application, made(waiting, seed))
        stop = Event()
        flow = application.flow(source, app=None, dialect=None, stop=stop, written=source.written, set_aside=True)
        at_begin = _queued(application)
        with worker_process(application):
            time.sleep(_WARM)
            tally = flow.run()
        at_end = _queued(application)
    if tally.assessed != len(events):
        raise RuntimeError(f"{tally.assessed} of {len(events)} events were assessed")
    p50, p95, longest = np.quantile(source.delays, (0.5, 0.95, 1.0)) * 1e3
    return {
        "p50 ms": float(p50),
        "p95 ms": float(p95),
        "longest ms": float(longest),
        "waiting at the begin": at_begin,
        "waiting at the end": at_end,
    }


def _queued(application: Application) -> int:
    with application.engine.connect() as connection:
        return int(str(connection.exec_driver_sql("SELECT count(*) FROM pending").scalar()))
