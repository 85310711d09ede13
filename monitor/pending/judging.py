"""Judgements, as many calls at a time as are allowed."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from threading import Event
from typing import TypeAlias

from monitor.errors import Retriable
from monitor.judge.judge import Judge
from monitor.judge.metric import Case, Judgement
from monitor.model import Work
from monitor.pending.queue import Queue
from monitor.pool import Pool
from monitor.store.finish import finish_judged
from monitor.store.pending import Claim
from monitor.store.writer import Writer

Tasks: TypeAlias = Sequence[Future[list[Judgement]]]
_PAUSE = 0.2  # seconds to wait for a task to end, at most


@dataclass(slots=True, kw_only=True)
class JudgingWorker:
    """Judges; has twice as much in its hands as there are calls at a time, so that none waits for the database."""

    queue: Queue
    writer: Writer
    judge: Judge
    concurrency: int
    _pool: Pool = field(init=False)
    _hands: list[tuple[Claim, Tasks]] = field(init=False, default_factory=list)
    _closed: Event = field(init=False, default_factory=Event)

    def __post_init__(self) -> None:
        self._pool = Pool(self.concurrency, "judge")

    def round(self) -> int | None:
        """See `Worker`."""
        room = 2 * self.concurrency - len(self._hands)
        if room >= self.concurrency:
            self._hands += [(claim, self._started(claim)) for claim in self.queue.claim([Work.JUDGE], room)]
        if not self._hands:
            return None
        done = [hand for hand in self._hands if all(task.done() for task in hand[1])]
        if done:
            self._finish(done)
            self._hands = [hand for hand in self._hands if hand not in done]
        else:
            wait([task for _, tasks in self._hands for task in tasks if not task.done()], _PAUSE, FIRST_COMPLETED)
        return len(done)

    def close(self) -> None:
        """See `Worker`; the claims of what is not finished lapse."""
        self._closed.set()
        self._pool.close()
        self.writer.close()

    def _started(self, claim: Claim) -> Tasks:
        return [self._pool.submit(task) for task in self.judge.tasks(case_of(claim))]

    def _finish(self, done: Sequence[tuple[Claim, Tasks]]) -> None:
        if self._closed.is_set():
            return
        judged: list[tuple[Claim, list[Judgement]]] = []
        for claim, tasks in done:
            try:
                judged.append((claim, [judgement for task in tasks for judgement in task.result()]))
            except Exception as error:  # noqa: BLE001  whatever it is, it is told, and the others do not wait for it
                self.queue.put_back([claim], error)
        try:
            finish_judged(self.writer, judged, self.queue.now())
        except Retriable:  # they stay in our hands: their calls are paid for
            raise
        except Exception as error:  # noqa: BLE001
            self.queue.put_back([claim for claim, _ in judged], error)


def case_of(claim: Claim) -> Case:
    """What the judge sees of an interaction."""
    it = claim.interaction
    return Case(
        question=it.question,
        answer=it.answer,
        documents=tuple(document.text for document in it.retrieved_documents),
        reference=it.reference_answer,
        refuses=claim.refuses,
    )
