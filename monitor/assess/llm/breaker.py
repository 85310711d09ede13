"""A circuit breaker: a server that keeps failing gets no calls for a while, then a single call to try it again."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from monitor.core.errors import Retriable


class CircuitOpen(Retriable):
    """The server keeps failing; waiting for it within a call is pointless."""


class Breaker:
    """Refuses calls for `cooldown` seconds after `failures` failures in a row.

    After the pause a single call may try. If it succeeds, all calls may pass; if not, the pause starts again.
    Thread-safe. `clock` returns seconds and never goes back.
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
        """Lets a call pass. The caller must then call `succeeded`, `failed`, `left` or `hold`.

        Raises:
            CircuitOpen: no call may pass before `retry_after`, since the server failed.
            Retriable: no call may pass before `retry_after`, since the server asked for a pause.
        """
        with self._lock:
            wait, broken = self._closed_until - self._clock(), self._failed >= self._most
            if wait > 0 and broken:
                raise CircuitOpen(
                    f"no calls for {self._cooldown:.0f} s after repeated failures{self._why}", retry_after=wait
                )
            if wait > 0:
                raise Retriable("the language model's server asked for a pause", retry_after=wait)
            if broken and self._trying:
                raise CircuitOpen(
                    f"a single call tries the server again after repeated failures{self._why}", retry_after=1.0
                )
            self._trying = broken

    def succeeded(self) -> None:
        """The server answered, even if it refused the request."""
        with self._lock:
            self._failed, self._trying = 0, False

    def failed(self, why: str = "") -> None:
        """The server was out of reach, did not answer in time, or had an error; `why` says which."""
        with self._lock:
            self._failed += 1
            self._why = f": {why}" if why else ""
            self._trying = False
            if self._failed >= self._most:
                self._closed_until = max(self._closed_until, self._clock() + self._cooldown)

    def left(self) -> None:
        """The call ended for a reason that says nothing about the server."""
        with self._lock:
            self._trying = False

    def hold(self, seconds: float) -> None:
        """The server asked for a pause."""
        with self._lock:
            self._trying = False
            self._closed_until = max(self._closed_until, self._clock() + seconds)
