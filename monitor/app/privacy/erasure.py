"""`monitor erase`: removes the texts of a person's interactions; verdicts, figures and times stay."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Event

from monitor.app.wiring.application import Application
from monitor.core.retry import Interrupted, Retry
from monitor.store.deadletters.dead_letters import purge
from monitor.store.privacy.erasure import BATCH, Erasable, Erasure, ErasureTarget

PATIENCE = 300.0  # seconds of waiting for a database before giving up


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasurePlan:
    """The stored interactions, including those erased before, and what is beside them.

    `dead_letters` name them; `golden_items` were made of the open ones, and are erased with them.
    """

    target: ErasureTarget
    interactions: tuple[Erasable, ...]
    dead_letters: tuple[int, ...]
    golden_items: int = 0

    @property
    def open(self) -> tuple[Erasable, ...]:
        """The interactions that are not erased yet."""
        return tuple(interaction for interaction in self.interactions if not interaction.erased)


def plan_erasure(erasure: Erasure, target: ErasureTarget) -> ErasurePlan:
    """Finds what there is to erase; may raise `Retriable`."""
    interactions = erasure.find(target)
    return ErasurePlan(
        target=target,
        interactions=tuple(interactions),
        dead_letters=tuple(erasure.dead_letters(target, interactions)),
        golden_items=erasure.golden_items(target.app, interactions),
    )


def erase(
    application: Application, plan: ErasurePlan, *, by: str, reason_given: bool, dead_letters: bool, stop: Event
) -> tuple[int, int]:
    """Erases the open interactions, one batch per transaction; returns the numbers erased and of letters deleted.

    Raises:
        OutOfReach, Fatal: the database stayed down or refused; erased rows stay erased.
    """
    again, erasure, done, deleted = Retry(stop=stop, patience=PATIENCE), Erasure(application.engine), 0, 0

    def erase_batch(batch: Sequence[Erasable]) -> None:
        erasure.erase(plan.target.app, batch, by=by, reason_given=reason_given, now=application.now())

    with suppress(Interrupted):
        for first in range(0, len(plan.open), BATCH):
            if stop.is_set():
                break
            batch = plan.open[first : first + BATCH]
            again(partial(erase_batch, batch))
            done += len(batch)
        if dead_letters and plan.dead_letters and not stop.is_set():
            deleted, _ = again(lambda: purge(application.store, list(plan.dead_letters)))
    return done, deleted
