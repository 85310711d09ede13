"""Bounds what a look-up costs: texts are kept for a while, and an outage holds turns back for a limited time only."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import monotonic

from cachetools import TTLCache
from typing_extensions import override

from monitor.core.errors import Retriable
from monitor.ingest.lookup.lookup import DocumentLookup

log = logging.getLogger(__name__)
_ENTRY_BYTES = 200  # beside the characters of an entry of the cache
_ASK_AGAIN = 10.0  # seconds between calls of a source that turns no longer wait for


class CachedLookup(DocumentLookup):
    """Keeps texts of `lookup` for `seconds`, at most `max_bytes` of them; unknown ids are asked for again."""

    def __init__(
        self, lookup: DocumentLookup, *, max_bytes: int, seconds: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._lookup = lookup
        self._max_bytes = max_bytes
        self._cache: TTLCache[tuple[str, str], str] = TTLCache(max_bytes, seconds, timer=clock, getsizeof=_size)
        self._lock = Lock()  # of `_cache`; nothing is waited for under it

    @override
    def texts(self, app: str, ids: Sequence[str]) -> Mapping[str, str]:
        with self._lock:
            known = {key: text for key in ids if (text := self._cache.get((app, key))) is not None}
        missing = [key for key in dict.fromkeys(ids) if key not in known]
        if not missing:
            return known
        found = self._lookup.texts(app, missing)
        with self._lock:
            for key, text in found.items():
                if _size(text) <= self._max_bytes:
                    self._cache[app, key] = text
        return {**known, **found}

    @override
    def describe(self) -> str:
        return self._lookup.describe()

    @override
    def close(self) -> None:
        self._lookup.close()


class PatientLookup(DocumentLookup):
    """Raises `Retriable` while `lookup` is down, but for no longer than `patience` seconds.

    After that it knows no texts, so that turns go on without, and asks again every few seconds until one call succeeds.
    """

    def __init__(self, lookup: DocumentLookup, *, patience: float, clock: Callable[[], float] = monotonic) -> None:
        self._lookup = lookup
        self._patience = patience
        self._clock = clock
        self._down_since: float | None = None
        self._ask_at = 0.0
        self._lock = Lock()

    @override
    def texts(self, app: str, ids: Sequence[str]) -> Mapping[str, str]:
        with self._lock:
            if self._impatient() and self._clock() < self._ask_at:
                return {}
            self._ask_at = self._clock() + _ASK_AGAIN
        try:
            found = self._lookup.texts(app, ids)
        except Retriable as error:
            with self._lock:
                if self._down_since is None:
                    self._down_since = self._clock()
                if not self._impatient():
                    raise
            log.warning("document look-up: %s; turns go on without these texts", error)
            return {}
        with self._lock:
            self._down_since = None
        return found

    @override
    def describe(self) -> str:
        return self._lookup.describe()

    @override
    def close(self) -> None:
        self._lookup.close()

    def _impatient(self) -> bool:
        return self._down_since is not None and self._clock() - self._down_since >= self._patience


def _size(text: str) -> int:
    return 4 * len(text) + _ENTRY_BYTES
