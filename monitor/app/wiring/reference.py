"""Holds the references in force in memory, so that ranking an answer asks no database."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from time import monotonic

from monitor.assess.reference import Reference, References
from monitor.core.errors import MonitorError
from monitor.core.model import Assessment
from monitor.store.reference.references import ReferenceStore

log = logging.getLogger(__name__)
RELOAD = 30.0  # seconds after which a new reference is noticed
ENDING = 5.0  # seconds for which a look under way is waited for at the end


class WatchedReferences:
    """Ranks assessments in the references that are in force, which it looks up again every `RELOAD` seconds.

    Only the first look holds up the caller. Later ones run on a thread of their own, and while the database is out of
    reach the references in memory stay in force.
    """

    def __init__(self, store: Callable[[], ReferenceStore], *, clock: Callable[[], float] = monotonic) -> None:
        self._store = store
        self._clock = clock
        self._held: dict[str, Reference] = {}
        self._references = References()
        self._looked_at: float | None = None
        self._looking = Lock()
        self._closed = False
        self._told: frozenset[str] = frozenset()

    def rank(self, assessments: Sequence[Assessment]) -> list[Assessment]:
        """The assessments with their ranks, where there is a reference for them.

        Raises:
            Retriable: the database is out of reach, and was not asked before.
        """
        if self._looked_at is None:
            self.look()
        elif self._clock() - self._looked_at >= RELOAD and not self._looking.locked() and not self._closed:
            self._looked_at = self._clock()
            Thread(target=self._look_again, name="references", daemon=True).start()
        return self._references.rank(assessments)

    def look(self) -> None:
        """Takes over the references that are in force now; reads the scores of new ones only.

        Raises:
            Retriable: the database is out of reach.
        """
        with self._looking:
            if self._closed:
                return
            store = self._store()
            hashes = store.hashes()
            unknown = hashes - self._held.keys()
            new = {name: one.reference(name) for name, one in store.read(unknown).items()} if unknown else {}
            changed = hashes - self._held.keys() - new.keys()
            for name in sorted(changed - self._told):
                log.error("the reference %s is not what was frozen, and is not used: see `monitor audit verify`", name)
            self._told = changed
            self._held = {name: one for name, one in {**self._held, **new}.items() if name in hashes}
            self._references = References(self._held.values())
            self._looked_at = self._clock()

    def _look_again(self) -> None:
        try:
            self.look()
        except MonitorError as error:
            log.warning("references: %s; those in memory stay in force", error)

    def close(self) -> None:
        """Begins no further look, and waits for the one under way, whose connection could otherwise not be closed."""
        self._closed = True
        if self._looking.acquire(timeout=ENDING):
            self._looking.release()
