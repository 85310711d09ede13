"""Claims on pending work, and what becomes of those that fail."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from monitor.assess.llm.exchange import BudgetSpent
from monitor.core.errors import MonitorError, Retriable
from monitor.core.model import Work
from monitor.store.pending.queue import Claim, PendingQueue

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=15)  # far longer than a round takes
_FIRST_DELAY, _LONGEST_DELAY = timedelta(seconds=5), timedelta(minutes=15)
_LONGEST_WAIT = timedelta(days=1).total_seconds()  # that a server or the budget may ask for


class Worker(Protocol):
    """Does some of the work that is due."""

    def round(self) -> int | None:
        """How many pieces it is through with, whatever came of them; None where there was nothing to do.

        Raises:
            Retriable, Fatal: the database is out of reach, or refuses.
        """

    def close(self) -> None:
        """Gives back what it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Claims work, and puts back what failed: later and later; what is not an outage is given up in the end."""

    pending: PendingQueue
    now: Callable[[], datetime]
    max_attempts: int

    def claim(self, kinds: Sequence[Work], most: int) -> list[Claim]:
        """What is due, up to `most`."""
        return self.pending.claim(kinds, self.now(), most=most, lease=LEASE)

    def renew(self, claims: Sequence[Claim]) -> None:
        """Has their claims lapse later."""
        self.pending.lease(claims, self.now() + LEASE)

    def release(self, claims: Sequence[Claim]) -> None:
        """Leaves them to others: the program ends."""
        if claims:
            with suppress(MonitorError):  # then they lapse
                self.pending.release(claims, self.now())

    def put_back(self, claims: Sequence[Claim], error: Exception | str) -> None:
        """They failed for this reason."""
        defect = None if isinstance(error, MonitorError | str) else error
        words = str(error) if defect is None else f"{type(defect).__name__}: {defect}"
        if claims:
            log.warning("%d × %s put back: %s", len(claims), claims[0].kind, words, exc_info=defect)
        wait = timedelta(seconds=min((isinstance(error, Retriable) and error.retry_after) or 0.0, _LONGEST_WAIT))
        for claim in claims:
            delay = max(min(_FIRST_DELAY * 2 ** min(claim.attempts - 1, 20), _LONGEST_DELAY), wait)
            attempted = not isinstance(error, BudgetSpent)
            passing = isinstance(error, Retriable)  # an outage is waited for, however long it takes
            last = not passing and claim.attempts >= self.max_attempts
            self.pending.failed([claim], words, None if last else self.now() + delay, attempted=attempted)
