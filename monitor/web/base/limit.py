"""How often something may be tried."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Hashable
from datetime import datetime, timedelta
from threading import Lock

_MOST_KEYS = 10_000  # remembered; the one that was quiet for longest is forgotten first


class Limit:
    """At most `most` tries in any `window`, for each key. Safe to use from several threads; one process counts."""

    def __init__(self, *, most: int, window: timedelta) -> None:
        self._most = most
        self._window = window
        self._tries: OrderedDict[Hashable, deque[datetime]] = OrderedDict()
        self._lock = Lock()

    def taken(self, key: Hashable, now: datetime) -> timedelta | None:
        """Counts a try; None, or for how long there is none left: then it does not count."""
        with self._lock:
            tries = self._tries.pop(key, deque())
            self._tries[key] = tries
            while len(self._tries) > _MOST_KEYS:
                self._tries.popitem(last=False)
            while tries and tries[0] <= now - self._window:
                tries.popleft()
            if len(tries) >= self._most:
                return tries[0] + self._window - now
            tries.append(now)
            return None

    def forgive(self, key: Hashable) -> None:
        """Forgets the tries of somebody who turned out to be welcome."""
        with self._lock:
            self._tries.pop(key, None)
