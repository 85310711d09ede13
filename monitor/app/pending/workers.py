"""The workers that the settings ask for, and how they are kept at work."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread

from monitor.app.pending.assessing import AssessingWorker
from monitor.app.pending.batches import WAIT, BatchJudgingWorker
from monitor.app.pending.judging import JudgingWorker
from monitor.app.pending.queue import Queue, Worker
from monitor.app.wiring.application import Application
from monitor.app.wiring.models import batch_endpoint
from monitor.assess.judge.judge import Judge
from monitor.core.errors import MonitorError
from monitor.core.model import Work
from monitor.store.pending.batches import SentBatches
from monitor.store.pending.queue import PendingQueue

log = logging.getLogger(__name__)

PATIENCE = 60.0  # seconds that the sidecar has for the interactions of one round
GRACE = 5.0  # seconds that a round has to end when the program does; its claims lapse otherwise
_IDLE = 2.0  # seconds between two looks at an empty queue


def workers(application: Application, *, wait: timedelta = WAIT) -> list[Worker]:
    """Those that the settings ask for; `wait` is how long a batch may wait for more."""
    settings, judge = application.settings, application.language_models.judge
    queue = Queue(
        pending=PendingQueue(application.engine), now=application.now, max_attempts=settings.pending.max_attempts
    )
    found: list[Worker] = [
        AssessingWorker(
            queue=queue,
            writer=application.writer(),
            pipeline=application.pipeline_with(PATIENCE),
            kinds=[Work.ASSESS] if settings.sidecar.mode == "off" else [Work.ASSESS, Work.SIDECAR],
        )
    ]
    if judge is not None:
        found.append(_judging(application, queue, judge, wait))
    return found


def _judging(application: Application, queue: Queue, judge: Judge, wait: timedelta) -> Worker:
    writer, settings = application.writer(), application.settings
    direct = JudgingWorker(queue=queue, writer=writer, judge=judge, concurrency=settings.judge.concurrency)
    if not settings.judge.batch:
        return direct
    return BatchJudgingWorker(
        queue=queue,
        writer=writer,
        judge=judge,
        model=application.language_models.judging_model,
        budget=application.language_models.budget,
        endpoint=batch_endpoint(settings),
        batches=SentBatches(application.engine),
        direct=direct,
        wait=wait,
    )


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
            thread.join(GRACE)
        for worker in found:
            worker.close()


def work_off(application: Application, stop: Event) -> int:
    """Does what is due now, until nothing is or `stop` is set; how many pieces were taken, failures included.

    Raises:
        Retriable, Fatal: the database is out of reach, or refuses.
    """
    found, taken = workers(application, wait=timedelta()), 0
    try:
        while not stop.is_set():
            rounds = [worker.round() for worker in found]
            if all(done is None for done in rounds):
                break
            taken += sum(done or 0 for done in rounds)
    finally:
        for worker in found:
            worker.close()
    return taken


def _work(worker: Worker, stop: Event) -> None:
    while not stop.is_set():
        try:
            done = worker.round()
        except MonitorError as error:
            log.warning("pending work waits: %s", error)
            done = None
        except Exception:  # a defect: nobody else would tell of it, and the thread would be missed
            log.exception("pending work waits")
            done = None
        if done is None:
            stop.wait(_IDLE)
