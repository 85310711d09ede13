"""Judges claimed interactions with as many concurrent calls as are allowed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event
from typing import TypeAlias

from typing_extensions import override

from monitor.app.pending.queue import LEASE, Queue, Worker
from monitor.assess.chunks.judged import with_diagnosis
from monitor.assess.judge.judge import Judge
from monitor.assess.judge.metric import Case, Judgement
from monitor.assess.llm.exchange import BudgetSpent
from monitor.assess.threshold import UNKNOWN, Spread
from monitor.core.errors import Retriable
from monitor.core.pending import Work
from monitor.core.pool import Pool
from monitor.store.interaction.writer import Writer
from monitor.store.pending.finish import finish_judged
from monitor.store.pending.hearing import Hearing
from monitor.store.pending.queue import Claim

Tasks: TypeAlias = Sequence[Future[list[Judgement]]]
_PAUSE = 0.2  # seconds at most to wait for a task to end


@dataclass(slots=True, kw_only=True)
class JudgingWorker(Worker):
    """Judges; holds twice as many claims as it makes concurrent calls, so that no call waits for the database."""

    queue: Queue
    writer: Writer
    judge: Judge
    concurrency: int
    hearing: Callable[[], Hearing] = Hearing
    spread: Callable[[str], Spread] | None = None  # of the scores of an app's chunks, if a metric needs it
    _pool: Pool = field(init=False)
    _in_progress: list[tuple[Claim, Tasks]] = field(init=False, default_factory=list)
    _closed: Event = field(init=False, default_factory=Event)
    _renewed: datetime = field(init=False)
    _spent: tuple[datetime, datetime] | None = field(init=False, default=None)  # since when, and until when

    def __post_init__(self) -> None:
        self._pool = Pool(self.concurrency, "judge")
        self._renewed = self.queue.now()

    @override
    def round(self) -> int | None:
        room = 2 * self.concurrency - len(self._in_progress)
        if room >= self.concurrency and not self._is_spent(self.queue.now()):
            self.take(self.queue.claim([Work.JUDGE], room))
        return self.step()

    def take(self, claims: Sequence[Claim]) -> None:
        """Starts judging the claims, except those in progress already."""
        held = {claim.id for claim, _ in self._in_progress}
        new = [claim for claim in claims if claim.id not in held]
        priors = {app: self._prior(app) for app in {claim.interaction.app for claim in new}}
        self._in_progress += [(claim, self._started(claim, priors[claim.interaction.app])) for claim in new]

    def step(self) -> int | None:
        """Waits briefly, and finishes the claims whose calls have ended; returns their number, None without claims."""
        if not self._in_progress:
            return None
        if not timedelta() <= self.queue.now() - self._renewed <= LEASE / 3:  # also where the clock was set back
            self.queue.renew([claim for claim, _ in self._in_progress])
            self._renewed = self.queue.now()
        done = [hand for hand in self._in_progress if all(task.done() for task in hand[1])]
        if done:
            self._finish(done)
            self._in_progress = [hand for hand in self._in_progress if hand not in done]
        else:
            wait([task for _, tasks in self._in_progress for task in tasks if not task.done()], _PAUSE, FIRST_COMPLETED)
        return len(done)

    @override
    def close(self) -> None:
        self._closed.set()
        self._pool.close()
        self.queue.release([claim for claim, _ in self._in_progress])
        self.writer.close()

    def _is_spent(self, now: datetime) -> bool:
        """Whether the budget is spent, as far as is known: nothing is if the clock was set back since."""
        return self._spent is not None and self._spent[0] <= now < self._spent[1]

    def _prior(self, app: str) -> Spread:
        try:
            return UNKNOWN if self.spread is None else self.spread(app)
        except Retriable:  # the claims are held already, and a threshold can do without
            return UNKNOWN

    def _started(self, claim: Claim, prior: Spread) -> Tasks:
        return [self._pool.submit(task) for task in self.judge.tasks(case_of(claim, prior))]

    def _finish(self, done: Sequence[tuple[Claim, Tasks]]) -> None:
        if self._closed.is_set():
            return
        judged: list[tuple[Claim, list[Judgement]]] = []
        failed: dict[str, tuple[Exception, list[Claim]]] = {}
        for claim, tasks in done:
            try:
                found = [judgement for task in tasks for judgement in task.result()]
                judged.append((claim, [with_diagnosis(one, claim.verdict, claim.diagnosis) for one in found]))
            except Exception as error:  # noqa: BLE001  any error is recorded with the claim, and does not hold up others
                failed.setdefault(f"{type(error)} {error}", (error, []))[1].append(claim)
        for problem, claims in failed.values():
            self.queue.put_back(claims, problem)
            if isinstance(problem, BudgetSpent):
                now = self.queue.now()
                self._spent = now, now + timedelta(seconds=problem.retry_after or 0.0)
        self._store(judged)

    def _store(self, judged: Sequence[tuple[Claim, list[Judgement]]]) -> None:
        try:
            finish_judged(self.writer, judged, self.queue.now(), self.hearing())
        except Retriable:  # they stay in progress: their calls are paid for
            raise
        except Exception as error:  # noqa: BLE001  any error is recorded with the claim, and does not hold up others
            if len(judged) > 1:  # a single one may have failed all
                for one in judged:
                    self._store([one])
            else:
                self.queue.put_back([claim for claim, _ in judged], error)


def case_of(claim: Claim, prior: Spread = UNKNOWN) -> Case:
    """The part of an interaction that the judge sees; a follow-up question as it was read for the assessment.

    `prior` is the spread of the scores of the app's chunks.
    """
    it = claim.interaction
    return Case(
        question=it.question if claim.standalone is None else claim.standalone,
        answer=it.answer,
        documents=tuple(document.text for document in it.retrieved_documents),
        reference=it.reference_answer,
        refuses=claim.refuses,
        chunks=() if claim.diagnosis is None else claim.diagnosis.chunks,
        prior=prior,
    )
