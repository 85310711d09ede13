"""Stores every few seconds how far a source was read, for whichever process evaluates the alert rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from monitor.app.background.timers import Timers, survive
from monitor.core.message import Progress
from monitor.core.ports import Source

EVERY = 3.0  # seconds
Record = Callable[[Sequence[Progress], datetime], None]

_NAME = "recording the progress of the source"


@contextmanager
def recorded_progress(
    source: Source, record: Record, now: Callable[[], datetime], *, every: float = EVERY
) -> Iterator[None]:
    """Calls `record` with the progress of `source` every `every` seconds while the block runs, and once at its end.

    A call that fails is logged; the last record stays, and ages, until the next call.
    """

    def record_now() -> None:
        record(source.progress(), now())

    try:
        with Timers() as timers:
            timers.every(every, record_now, name=_NAME, at_once=False)
            yield
    finally:
        survive(record_now, _NAME)
