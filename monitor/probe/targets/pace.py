"""Keeps calls apart, so that a probe puts no more load on a chatbot than it may."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock
from time import monotonic


class Pace:
    """Lets at most `per_second` calls begin in a second, evenly spaced, whatever number of threads call.

    `clock` is in seconds; `wait` waits for so many seconds and returns whether the pace was closed meanwhile.
    """

    def __init__(
        self,
        per_second: float | None,
        *,
        clock: Callable[[], float] = monotonic,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        self._apart = 0.0 if per_second is None else 1 / per_second
        self._clock = clock
        self._closed = Event()
        self._wait = wait or self._closed.wait
        self._lock = Lock()
        self._next = clock()

    def enter(self) -> None:
        """Waits for the caller's turn; turns are given in the order of the calls."""
        if not self._apart:
            return
        with self._lock:
            now = self._clock()
            turn = max(self._next, now)
            self._next = turn + self._apart
        if turn > now:
            self._wait(turn - now)

    def close(self) -> None:
        """Lets all go who wait."""
        self._closed.set()
