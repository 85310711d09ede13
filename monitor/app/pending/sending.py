"""Sends verdicts out: a worker for each destination, and one that clears what waits for destinations switched off."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event

from typing_extensions import override

from monitor.app.export.destination import Destination, Refusal, Refused
from monitor.app.pending.queue import LEASE, Queue, Worker
from monitor.core.errors import Fatal, Retriable
from monitor.core.pending import Work
from monitor.store.pending.queue import PendingQueue
from monitor.store.pending.verdicts import VerdictQueue, VerdictToSend

log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=2), timedelta(minutes=5)
_LONGEST_ASKED = timedelta(hours=1)  # that a destination may ask us to wait
_CLEARED_AT_ONCE = 10_000  # verdicts


@dataclass(slots=True, kw_only=True)
class SendingWorker(Worker):
    """Sends batches to one destination; while that is down it sends one batch after each pause, and nothing is lost.

    A verdict is given up only if the destination refuses it for good, or has refused it `max_attempts` times.
    """

    queue: Queue
    verdicts: VerdictQueue
    destination: Destination
    _open: list[VerdictToSend] = field(init=False, default_factory=list)  # claimed, and neither sent nor put back
    _paused_until: datetime | None = field(init=False, default=None)
    _failures: int = field(init=False, default=0)
    _closed: Event = field(init=False, default_factory=Event)

    @override
    def round(self) -> int | None:
        now = self.queue.now()
        if self._paused_until is not None and now < self._paused_until <= now + _LONGEST_ASKED:
            return None
        claims = self.verdicts.claim(now, most=self.destination.at_once, lease=LEASE)
        if not claims:
            return None
        self._open = list(claims)
        try:
            self._send(claims)
        except (Retriable, Fatal) as error:
            self._pause(error)
        else:
            self._failures, self._paused_until = 0, None
        self._open = []
        return len(claims)

    @override
    def close(self) -> None:
        self._closed.set()
        self.queue.release(self._open)
        self.destination.close()

    def _send(self, batch: Sequence[VerdictToSend]) -> None:
        """Sends a batch; one of which something is refused, or cannot be written, is halved until that is alone."""
        if self._closed.is_set():
            return
        problem: Exception | None = None
        refusals: dict[int, Refusal] = {}
        try:
            refusals = {refusal.place: refusal for refusal in self.destination.send(batch)}
        except Refused as error:
            problem = error
        except (Retriable, Fatal):
            raise
        except Exception as error:  # noqa: BLE001  any error is recorded with the claim, and does not hold up others
            problem = error
        if problem is not None:
            self._alone(batch, problem)
            return
        self._settle([v for place, v in enumerate(batch) if place not in refusals])
        for place, refusal in refusals.items():
            if refusal.later:
                self._put_back(batch[place], refusal.why)
            else:
                self._give_up(batch[place], refusal.why)

    def _alone(self, batch: Sequence[VerdictToSend], problem: Exception) -> None:
        """Sends the halves of a batch that cannot be sent whole; ends the claim of a single verdict."""
        if len(batch) > 1:
            half = len(batch) // 2
            self._send(batch[:half])
            self._send(batch[half:])
        elif isinstance(problem, Refused):
            self._give_up(batch[0], str(problem))
        else:
            self._put_back(batch[0], problem)

    def _put_back(self, verdict: VerdictToSend, error: Exception | str) -> None:
        self.queue.put_back([verdict], error)
        self._open.remove(verdict)

    def _settle(self, sent: Sequence[VerdictToSend]) -> None:
        self.verdicts.sent(sent, self.queue.now())
        done = {verdict.id for verdict in sent}
        self._open = [verdict for verdict in self._open if verdict.id not in done]

    def _give_up(self, verdict: VerdictToSend, why: str) -> None:
        named = {"app": verdict.app, "interaction_id": verdict.interaction_id}
        log.warning("%s is given up for one verdict: %s", verdict.kind, why, extra=named)
        self.queue.pending.failed([verdict], why, None)
        self._open.remove(verdict)

    def _pause(self, error: Retriable | Fatal) -> None:
        """Puts everything back, and waits as long as the destination asks, else longer after each failure."""
        asked = error.retry_after if isinstance(error, Retriable) else None
        wait = min(_FIRST_PAUSE * 2 ** min(self._failures, 20), _LONGEST_PAUSE)
        if asked is not None:
            wait = min(max(timedelta(seconds=asked), _FIRST_PAUSE / 4), _LONGEST_ASKED)
        self._failures += 1
        self._paused_until = self.queue.now() + wait
        log.warning("%s: %s; trying again in %.0f s", self.destination.kind, error, wait.total_seconds())
        self.queue.pending.failed(self._open, str(error), self._paused_until, attempted=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClearingWorker(Worker):
    """Deletes the verdicts that wait for destinations which are not set any more."""

    pending: PendingQueue
    kinds: Sequence[Work]

    @override
    def round(self) -> int | None:
        cleared = self.pending.clear(self.kinds, most=_CLEARED_AT_ONCE)
        if cleared:
            log.warning("dropped %d verdicts that waited for destinations which are not set", cleared)
        return cleared or None

    @override
    def close(self) -> None:
        """There is nothing to release."""
