"""Claims pending work, and puts back what failed, with a growing delay."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from monitor.assess.llm.exchange import BudgetSpent
from monitor.core.errors import MonitorError, Retriable
from monitor.core.pending import Work
from monitor.store.pending.queue import Claim, PendingQueue, Taken

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=15)  # far longer than a round takes
_FIRST_DELAY, _LONGEST_DELAY = timedelta(seconds=5), timedelta(minutes=15)
_LONGEST_WAIT = timedelta(days=1).total_seconds()  # seconds that a server or the budget may ask for


class Worker(Protocol):
    """Does pending work in rounds."""

    def round(self) -> int | None:
        """Does some of the due work; returns the number of pieces it ended, failures included, None without any work.

        Raises:
            Retriable, Fatal: the database is out of reach, or refuses.
        """

    def close(self) -> None:
        """Releases its claims for others to do, and its resources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Claims work, and puts back what failed after growing delays; gives up in the end, except on outages."""

    pending: PendingQueue
    now: Callable[[], datetime]
    max_attempts: int

    def claim(self, kinds: Sequence[Work], most: int) -> list[Claim]:
        return self.pending.claim(kinds, self.now(), most=most, lease=LEASE)

    def renew(self, claims: Sequence[Claim]) -> None:
        """Extends the claims by another lease."""
        self.pending.lease(claims, self.now() + LEASE)

    def release(self, claims: Sequence[Taken]) -> None:
        """Gives up the claims, because the program ends."""
        if claims:
            with suppress(MonitorError):  # they lapse by themselves then
                self.pending.release(claims, self.now())

    def put_back(self, claims: Sequence[Taken], error: Exception | str) -> None:
        """Records the failure of the claims, and when to try again."""
        defect = None if isinstance(error, MonitorError | str) else error
        words = str(error) if defect is None else f"{type(defect).__name__}: {defect}"
        if claims:
            said = words if defect is None else type(defect).__name__  # what a defect says may quote an answer
            log.warning("%d × %s put back: %s", len(claims), claims[0].kind, said, exc_info=defect)
        wait = timedelta(seconds=min((isinstance(error, Retriable) and error.retry_after) or 0.0, _LONGEST_WAIT))
        for claim in claims:
            delay = max(min(_FIRST_DELAY * 2 ** min(claim.attempts - 1, 20), _LONGEST_DELAY), wait)
            attempted = not isinstance(error, BudgetSpent)
            outage = isinstance(error, Retriable)  # is waited for, however long it takes
            last = not outage and claim.attempts >= self.max_attempts
            self.pending.failed([claim], words, None if last else self.now() + delay, attempted=attempted)
