"""First assessments of what was set aside, and the sidecar's support in the place of stand-ins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from monitor.app.pending.queue import Queue
from monitor.assess.pipeline import Pipeline
from monitor.core.errors import Retriable
from monitor.core.model import Assessment, Work
from monitor.store.interaction.writer import Writer
from monitor.store.pending.finish import finish_assessed, finish_revised
from monitor.store.pending.queue import Claim

_AT_A_TIME = 32


@dataclass(slots=True, kw_only=True)
class AssessingWorker:
    """Gives first assessments, and revises those that have a stand-in for the sidecar's support.

    `kinds` leaves the sidecar's work alone where there is no sidecar.
    """

    queue: Queue
    writer: Writer
    pipeline: Pipeline
    kinds: Sequence[Work]
    _hands: Sequence[Claim] = field(init=False, default=())

    def round(self) -> int | None:
        """See `Worker`."""
        claims = self._hands = self.queue.claim(self.kinds, _AT_A_TIME)
        for kind in self.kinds:
            self._work([claim for claim in claims if claim.kind is kind])
        self._hands = ()
        return len(claims) or None

    def close(self) -> None:
        """See `Worker`; what is not finished is left to others."""
        self.queue.release(self._hands)
        self.writer.close()

    def _work(self, claims: Sequence[Claim]) -> None:
        if not claims:
            return
        try:
            assessments = self.pipeline.assess([claim.interaction for claim in claims])
            self._finish(list(zip(claims, assessments, strict=True)))
        except Retriable as error:
            self.queue.put_back(claims, error)
        except Exception as error:  # noqa: BLE001  whatever it is, it is told, and the others do not wait for its end
            if len(claims) > 1:  # one of them may spoil it for the others
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
        for claim in finish_revised(self.writer, complete, self.queue.now()):
            problem = "its verdict was given under another profile than today's, which is not revised"
            self.queue.pending.failed([claim], problem, None)
