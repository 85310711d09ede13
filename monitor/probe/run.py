"""Runs the items of a golden set side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from threading import Event
from time import monotonic
from typing import Final, TypeAlias

from monitor.core.errors import MonitorError
from monitor.core.pool import Pool
from monitor.probe.golden import GoldenItem
from monitor.probe.result import ItemResult

Converse: TypeAlias = Callable[[int, GoldenItem], ItemResult]
GRACE: Final = 30.0  # seconds
_LOOK: Final = 0.2  # seconds between two looks at whether to stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What came of the items. With `error` the run failed; with less `asked` than there are items, it was stopped."""

    asked: int
    error: MonitorError | None = None


def run_items(
    items: Sequence[GoldenItem],
    converse: Converse,
    *,
    concurrency: int,
    stop: Event,
    done: Callable[[int, ItemResult], None],
    grace: float = GRACE,
) -> Ran:
    """Holds the conversation about each item, `concurrency` at a time, in their order.

    The calling thread hands each result to `done` as it comes, with the item's place. Once `stop` is set, or a
    conversation raises, no further one begins; those that are running are waited for, up to `grace` seconds, since
    their calls are paid for.

    Raises:
        Exception: what `done` raises, and what a conversation raises that is no `MonitorError`.
    """
    pool = Pool(concurrency, "probe")
    running: dict[Future[ItemResult], int] = {}
    waiting, asked = iter(enumerate(items)), 0
    error: MonitorError | None = None
    until: float | None = None
    try:
        while True:
            if until is None and (error is not None or stop.is_set()):
                until = monotonic() + grace
            while until is None and len(running) < concurrency and (following := next(waiting, None)) is not None:
                place, item = following
                running[pool.submit(lambda p=place, i=item: converse(p, i))] = place  # type: ignore[misc]
            if not running or (until is not None and monotonic() > until):
                return Ran(asked=asked, error=error)
            for future in wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED).done:
                place = running.pop(future)
                try:
                    result = future.result()
                except MonitorError as raised:
                    error = error or raised
                    continue
                done(place, result)
                asked += 1
    finally:
        pool.close()
