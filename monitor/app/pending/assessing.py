"""Assesses interactions that were set aside, and replaces stand-in support by the sidecar's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event

from typing_extensions import override

from monitor.app.flow import Assess
from monitor.app.pending.queue import Queue, Worker
from monitor.core.errors import Retriable
from monitor.core.model import Assessment
from monitor.core.pending import Work
from monitor.store.interaction.writer import Writer
from monitor.store.pending.finish import finish_assessed, finish_revised
from monitor.store.pending.hearing import Hearing
from monitor.store.pending.queue import Claim

_AT_A_TIME = 32


@dataclass(slots=True, kw_only=True)
class AssessingWorker(Worker):
    """Gives first assessments, and revises those whose support stands in for the sidecar's.

    `kinds` omits the sidecar's work where no sidecar is configured.
    """

    queue: Queue
    writer: Writer
    assess: Assess
    kinds: Sequence[Work]
    hearing: Callable[[], Hearing] = Hearing
    _claims: Sequence[Claim] = field(init=False, default=())
    _closed: Event = field(init=False, default_factory=Event)

    @override
    def round(self) -> int | None:
        claims = self._claims = self.queue.claim(self.kinds, _AT_A_TIME)
        for kind in self.kinds:
            self._work([claim for claim in claims if claim.kind is kind])
        self._claims = ()
        return len(claims) or None

    @override
    def close(self) -> None:
        self._closed.set()  # a round that outlives the grace must not connect again: its claims are others' now
        self.queue.release(self._claims)
        self.writer.close()

    def _work(self, claims: Sequence[Claim]) -> None:
        if not claims:
            return
        try:
            assessments = self.assess([claim.interaction for claim in claims])
            if not self._closed.is_set():
                self._finish(list(zip(claims, assessments, strict=True)))
        except Retriable as error:
            self.queue.put_back(claims, error)
        except Exception as error:  # noqa: BLE001  any error is recorded with the claim, and does not hold up others
            if len(claims) > 1:  # a single one may have failed all
                for claim in claims:
                    self._work([claim])
            else:
                self.queue.put_back(claims, error)

    def _finish(self, done: Sequence[tuple[Claim, Assessment]]) -> None:
        if done[0][0].kind is Work.ASSESS:
            finish_assessed(self.writer, done)
            return
        still = {claim.id: why for claim, a in done if (why := a.support.stands_in) is not None and why.queued}
        for because in {why.because for why in still.values()}:
            alike = [claim for claim, _ in done if claim.id in still and still[claim.id].because == because]
            self.queue.put_back(alike, still[alike[0].id].error or because)
        complete = [(claim, a) for claim, a in done if claim.id not in still]
        for claim in finish_revised(self.writer, complete, self.queue.now(), self.hearing()):
            problem = "its verdict is from another profile than the current one, and is not revised"
            self.queue.pending.failed([claim], problem, None)
