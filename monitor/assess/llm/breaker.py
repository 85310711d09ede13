"""A circuit breaker: a server that fails again and again is left alone for a while, then tried with one call."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from monitor.core.errors import Retriable


class CircuitOpen(Retriable):
    """The server has failed again and again; there is no use in waiting for it within a call."""


class Breaker:
    """Counts failures in a row; from `failures` on, calls are refused for `cooldown` seconds.

    After that one call may try: if it succeeds all may, if not the pause begins anew. Thread-safe; `clock` gives
    seconds that only grow.
    """

    def __init__(self, *, failures: int, cooldown: float, clock: Callable[[], float]) -> None:
        self._most = failures
        self._cooldown = cooldown
        self._clock = clock
        self._lock = Lock()
        self._failed = 0
        self._closed_until = 0.0
        self._trying = False
        self._why = ""

    def enter(self) -> None:
        """Asks to be let through; who is has to say `succeeded`, `failed` or `left` afterwards.

        Raises:
            CircuitOpen: not before `retry_after`, since it failed.
            Retriable: not before `retry_after`, since it asked for that.
        """
        with self._lock:
            wait, broken = self._closed_until - self._clock(), self._failed >= self._most
            if wait > 0 and broken:
                raise CircuitOpen(f"left alone for {self._cooldown:.0f} s after failures{self._why}", retry_after=wait)
            if wait > 0:
                raise Retriable("the language model's server asked to be left alone for now", retry_after=wait)
            if broken and self._trying:
                raise CircuitOpen(f"tried again with one call after failures{self._why}", retry_after=1.0)
            self._trying = broken

    def succeeded(self) -> None:
        """The server answered, whatever it said of the request."""
        with self._lock:
            self._failed, self._trying = 0, False

    def failed(self, why: str = "") -> None:
        """The server was out of reach, did not answer in time, or broke down: `why` in words."""
        with self._lock:
            self._failed += 1
            self._why = f": {why}" if why else ""
            self._trying = False
            if self._failed >= self._most:
                self._closed_until = max(self._closed_until, self._clock() + self._cooldown)

    def left(self) -> None:
        """The call was given up for a reason that says nothing about the server."""
        with self._lock:
            self._trying = False

    def hold(self, seconds: float) -> None:
        """The server asked to be left alone for so long."""
        with self._lock:
            self._trying = False
            self._closed_until = max(self._closed_until, self._clock() + seconds)
