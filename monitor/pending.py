"""Workers that do what could not be done with the event: first assessments, the sidecar's support, judgements."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Protocol

from monitor.app import Application
from monitor.errors import MonitorError, Retriable
from monitor.judge.judge import Judge
from monitor.judge.metric import Case, Judgement
from monitor.llm.exchange import BudgetSpent
from monitor.model import Assessment, Work
from monitor.pipeline import Pipeline
from monitor.store.finish import finish_assessed, finish_judged, finish_revised
from monitor.store.pending import Claim, Pending
from monitor.store.writer import Writer

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=15)  # far longer than a round takes
PATIENCE = 60.0  # seconds that the sidecar has for the interactions of one round
_AT_A_TIME = 32
_FIRST_DELAY, _LONGEST_DELAY = timedelta(seconds=5), timedelta(minutes=15)
_IDLE = 2.0  # seconds between two looks at an empty queue
_GRACE = 5.0  # seconds that a round has to end when the program does; its claims lapse otherwise


class Worker(Protocol):
    """Does some of the work that is due."""

    def round(self) -> int:
        """How many pieces it took, whatever came of them.

        Raises:
            Retriable, Fatal: the database is out of reach, or refuses.
        """

    def close(self) -> None:
        """Gives back what it holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """Claims work, and puts back what failed: later and later, until it is given up."""

    pending: Pending
    now: Callable[[], datetime]
    max_attempts: int

    def claim(self, kinds: Sequence[Work], most: int) -> list[Claim]:
        """What is due, up to `most`."""
        return self.pending.claim(kinds, self.now(), most=most, lease=LEASE)

    def put_back(self, claims: Sequence[Claim], error: Exception | str) -> None:
        """They failed for this reason."""
        defect = None if isinstance(error, MonitorError | str) else error
        words = str(error) if defect is None else f"{type(defect).__name__}: {defect}"
        if claims:
            log.warning("%d × %s failed: %s", len(claims), claims[0].kind, words, exc_info=defect)
        wait = error.retry_after if isinstance(error, Retriable) else None
        for claim in claims:
            delay = min(_FIRST_DELAY * 2 ** min(claim.attempts - 1, 20), _LONGEST_DELAY)
            delay = max(delay, timedelta(seconds=wait or 0))
            attempted = not isinstance(error, BudgetSpent)
            last = attempted and claim.attempts >= self.max_attempts
            self.pending.failed([claim], words, None if last else self.now() + delay, attempted=attempted)


@dataclass(frozen=True, slots=True, kw_only=True)
class AssessingWorker:
    """Gives first assessments, and revises those that have a stand-in for the sidecar's support.

    `kinds` leaves the sidecar's work alone where there is no sidecar.
    """

    queue: Queue
    writer: Writer
    pipeline: Pipeline
    kinds: Sequence[Work]

    def round(self) -> int:
        """See `Worker`."""
        claims = self.queue.claim(self.kinds, _AT_A_TIME)
        for kind in self.kinds:
            self._work([claim for claim in claims if claim.kind is kind])
        return len(claims)

    def close(self) -> None:
        """See `Worker`."""
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
        still = {claim.id: why.because for claim, a in done if (why := a.support.stands_in) is not None and why.queued}
        for claim, _ in done:
            if claim.id in still:
                self.queue.put_back([claim], still[claim.id])
        complete = [(claim, a) for claim, a in done if claim.id not in still]
        for claim in finish_revised(self.writer, complete, self.queue.now()):
            problem = "its verdict was given under another profile than today's, which is not revised"
            self.queue.pending.failed([claim], problem, None)


@dataclass(slots=True, kw_only=True)
class JudgingWorker:
    """Judges, as many calls at a time as the pool has threads."""

    queue: Queue
    writer: Writer
    judge: Judge
    concurrency: int
    _pool: ThreadPoolExecutor = field(init=False)
    _closed: Event = field(init=False, default_factory=Event)

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=self.concurrency, thread_name_prefix="judge")

    def round(self) -> int:
        """See `Worker`."""
        claims = self.queue.claim([Work.JUDGE], 4 * self.concurrency)
        started = [(claim, self._started(claim)) for claim in claims]
        try:
            for claim, tasks in started:
                self._finish(claim, tasks)
        except CancelledError:  # closed meanwhile: their claims lapse
            log.debug("%d × judge were not finished", len(claims))
        finally:
            for _, tasks in started:
                _cancel(tasks)
        return len(claims)

    def close(self) -> None:
        """See `Worker`."""
        self._closed.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self.writer.close()

    def _started(self, claim: Claim) -> list[Future[list[Judgement]]]:
        return [self._pool.submit(task) for task in self.judge.tasks(case_of(claim))]

    def _finish(self, claim: Claim, tasks: Sequence[Future[list[Judgement]]]) -> None:
        try:
            judgements = [judgement for task in tasks for judgement in task.result()]
            finish_judged(self.writer, [(claim, judgements)], self.queue.now())
        except CancelledError:
            raise
        except Exception as error:
            _cancel(tasks)
            if self._closed.is_set():
                raise CancelledError from error
            self.queue.put_back([claim], error)


def _cancel(tasks: Sequence[Future[list[Judgement]]]) -> None:
    for task in tasks:
        task.cancel()


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


def workers(application: Application) -> list[Worker]:
    """Those that the settings ask for."""
    settings, judge = application.settings, application.judge
    queue = Queue(pending=Pending(application.engine), now=application.now, max_attempts=settings.pending.max_attempts)
    found: list[Worker] = [
        AssessingWorker(
            queue=queue,
            writer=application.writer(),
            pipeline=application.pipeline_with(PATIENCE),
            kinds=[Work.ASSESS] if settings.sidecar.mode == "off" else [Work.ASSESS, Work.SIDECAR],
        )
    ]
    if judge is not None:
        writer, concurrency = application.writer(), settings.judge.concurrency
        found.append(JudgingWorker(queue=queue, writer=writer, judge=judge, concurrency=concurrency))
    return found


@contextmanager
def working(application: Application) -> Iterator[None]:
    """Has every worker at work on a thread of its own while the block runs."""
    stop, found = Event(), workers(application)
    threads = [Thread(target=_work, args=(worker, stop), name=type(worker).__name__, daemon=True) for worker in found]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(_GRACE)
        for worker in found:
            worker.close()


def work_off(application: Application, stop: Event) -> int:
    """Does what is due now, until nothing is or `stop` is set; how many pieces were taken, failures included.

    Raises:
        Retriable, Fatal: the database is out of reach, or refuses.
    """
    found, taken = workers(application), 0
    try:
        while not stop.is_set() and (in_round := sum(worker.round() for worker in found)):
            taken += in_round
    finally:
        for worker in found:
            worker.close()
    return taken


def _work(worker: Worker, stop: Event) -> None:
    while not stop.is_set():
        try:
            taken = worker.round()
        except MonitorError as error:
            log.warning("pending work waits: %s", error)
            taken = 0
        except Exception:  # a defect: nobody else would tell of it, and the thread would be missed
            log.exception("pending work waits")
            taken = 0
        if not taken:
            stop.wait(_IDLE)
