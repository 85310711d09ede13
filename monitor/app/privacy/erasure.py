"""`monitor erase`: what is stored of somebody's interactions, without what they say."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Event

from monitor.app.wiring.application import Application
from monitor.core.errors import MonitorError
from monitor.core.retry import Interrupted, Retry
from monitor.store.audit.seal import Sealing
from monitor.store.deadletters.dead_letters import purge
from monitor.store.privacy.erasure import BATCH, Erasable, Erasure, ErasureTarget

log = logging.getLogger(__name__)
PATIENCE = 300.0  # seconds of waiting for a database before giving up


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What is stored: interactions, those among them that were erased before, and dead letters that name them."""

    wanted: ErasureTarget
    interactions: tuple[Erasable, ...]
    dead_letters: tuple[int, ...]

    @property
    def open(self) -> tuple[Erasable, ...]:
        """Those still to be erased."""
        return tuple(one for one in self.interactions if not one.erased)


def look(application: Application, wanted: ErasureTarget) -> Found:
    """What there is to be erased; may raise `Retriable`."""
    erasure = Erasure(application.engine)
    interactions = erasure.find(wanted)
    return Found(
        wanted=wanted,
        interactions=tuple(interactions),
        dead_letters=tuple(erasure.dead_letters(wanted, interactions)),
    )


def erase(
    application: Application, found: Found, *, by: str, reason_given: bool, dead_letters: bool, stop: Event
) -> tuple[int, int]:
    """Erases what is open, a batch in each transaction; how many interactions, and how many dead letters it deleted.

    What waits to be sealed is sealed first, so that the audit trail shows what it was sealed as.

    Raises:
        OutOfReach, Fatal: the database stayed away or refused; what was erased stays so.
    """
    again, erasure, done, deleted = Retry(stop=stop, patience=PATIENCE), Erasure(application.engine), 0, 0
    if found.open and application.settings.audit.enabled:
        _seal(application)

    def batch(those: Sequence[Erasable]) -> None:
        erasure.erase(found.wanted.app, those, by=by, reason_given=reason_given, now=application.now())

    with suppress(Interrupted):
        for first in range(0, len(found.open), BATCH):
            if stop.is_set():
                break
            those = found.open[first : first + BATCH]
            again(lambda those=those: batch(those))  # type: ignore[misc]
            done += len(those)
        if dead_letters and found.dead_letters and not stop.is_set():
            deleted, _ = again(lambda: purge(application.store, list(found.dead_letters)))
    return done, deleted


def _seal(application: Application) -> None:
    """Without a checkpoint: whoever holds the key signs the next one."""
    sealing = Sealing(application.engine)
    try:
        while (done := sealing.seal_batch(application.now())) and done.more:
            pass
    except MonitorError as error:
        log.warning("what waits is not sealed before it is erased, the audit trail only tells that it was: %s", error)
