"""Limits the rate to one message per second in a channel, as Slack requires."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from monitor.core.errors import Retriable

INTERVAL_SECONDS = 1.0
PATIENCE_SECONDS = 3.0


class Pace:
    """Hands out turns to post in one channel, `INTERVAL_SECONDS` apart; thread-safe."""

    def __init__(
        self, *, clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._next: float | None = None
        self._lock = Lock()

    def turn(self) -> None:
        """Waits for the next turn.

        Raises:
            Retriable: the wait would be longer than `PATIENCE_SECONDS`; no turn is taken.
        """
        with self._lock:
            now = self._clock()
            at = now if self._next is None else max(now, self._next)
            wait = at - now
            if wait > PATIENCE_SECONDS:
                raise Retriable("slack: more than one message per second is waiting", retry_after=wait)
            self._next = at + INTERVAL_SECONDS
        if wait > 0:
            self._sleep(wait)
