"""Holds in memory how relevant the chunks of each app usually are, so that no event waits for the database."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Lock, Thread
from time import monotonic

from cachetools import LRUCache

from monitor.assess.chunks.examine import USUAL
from monitor.assess.threshold import Spread
from monitor.core.errors import MonitorError
from monitor.core.text.plain import plain
from monitor.store.reference.usual_relevance import UsualRelevance

log = logging.getLogger(__name__)
RELOAD = 600.0  # seconds after which an app is looked up again
MOST_APPS = 1_000
ENDING = 5.0  # seconds for which a look under way is waited for at the end


class WatchedRelevance:
    """Gives the spread that was read last for an app, and has it read again on a thread of its own.

    Before the first look at an app has ended, and where the database is out of reach, it is that of an unknown app.
    """

    def __init__(self, store: Callable[[], UsualRelevance], *, clock: Callable[[], float] = monotonic) -> None:
        self._store = store
        self._clock = clock
        self._held: LRUCache[str, tuple[float, Spread]] = LRUCache(MOST_APPS)
        self._due: set[str] = set()
        self._lock = Lock()
        self._looking: Thread | None = None
        self._closed = False

    def __call__(self, app: str) -> Spread:
        with self._lock:
            looked_at, spread = self._held.get(app, (None, USUAL))
            due = looked_at is None or self._clock() - looked_at >= RELOAD
            if due and len(self._due) < MOST_APPS and not self._closed:
                self._held[app] = self._clock(), spread  # not due again before the next look
                self._due.add(app)
                if self._looking is None:
                    self._looking = Thread(target=self.look, name="relevance", daemon=True)
                    self._looking.start()
        return spread

    def look(self) -> None:
        """Reads the apps that are due; those that cannot be read stay as they were until they are due again."""
        while True:
            with self._lock:
                if not self._due:
                    self._looking = None
                    return
                app = self._due.pop()
            try:
                spread = self._store().of(app, USUAL)
            except MonitorError as error:
                log.warning(
                    "how relevant chunks of %s usually are is not known: %s", plain(app), error, extra={"app": app}
                )
                continue
            except BaseException:
                self._looking = None  # another thread looks the next time
                raise
            with self._lock:
                self._held[app] = self._clock(), spread

    def close(self) -> None:
        """Begins no further look, and waits for the one under way, whose connection could otherwise not be closed."""
        with self._lock:
            self._closed = True
            self._due.clear()
            looking = self._looking
        if looking is not None:
            looking.join(ENDING)
