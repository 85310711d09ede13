"""Limits how often an address may try to sign in.

The `limits` package is not used here: its memory storage never forgets a key, and it reads the wall clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from datetime import datetime, timedelta
from threading import Lock

from cachetools import LRUCache

_MAX_KEYS = 10_000  # beyond these, the key that was quiet for longest is forgotten


class RateLimit:
    """At most `most` attempts of a key in any `window`. Safe to use from several threads; each process counts alone."""

    def __init__(self, *, most: int, window: timedelta) -> None:
        self._most = most
        self._window = window
        self._attempts: LRUCache[Hashable, deque[datetime]] = LRUCache(_MAX_KEYS)
        self._lock = Lock()

    def attempt(self, key: Hashable, now: datetime) -> timedelta | None:
        """Counts an attempt and returns None; at the limit it counts nothing and returns how long to wait."""
        with self._lock:
            attempts = self._attempts.setdefault(key, deque())
            while attempts and attempts[0] <= now - self._window:
                attempts.popleft()
            if len(attempts) >= self._most:
                return attempts[0] + self._window - now
            attempts.append(now)
            return None

    def clear(self, key: Hashable) -> None:
        """Forgets the attempts of `key`, which has signed in."""
        with self._lock:
            self._attempts.pop(key, None)
