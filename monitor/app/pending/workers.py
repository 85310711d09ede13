"""Chooses the workers that the settings ask for, and runs them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from threading import Event, Thread

from monitor.app.flow import Assess
from monitor.app.pending.assessing import AssessingWorker
from monitor.app.pending.hearings import Hearings
from monitor.app.pending.judging import JudgingWorker
from monitor.app.pending.queue import Queue, Worker
from monitor.app.pending.sending import ClearingWorker, SendingWorker
from monitor.app.wiring.application import Application
from monitor.app.wiring.export import destinations, switched_on
from monitor.app.wiring.models import batch_endpoint, sampling
from monitor.assess.judge.judge import Judge
from monitor.core.errors import MonitorError
from monitor.core.model import Assessment, Interaction
from monitor.core.pending import SENDING, Work
from monitor.core.settings.load import Settings
from monitor.store.pending.batches import SentBatches
from monitor.store.pending.chunk_scores import METRIC, ChunkScores
from monitor.store.pending.queue import PendingQueue
from monitor.store.pending.verdicts import VerdictQueue
from monitor.store.review.judged_labels import JudgedLabels

log = logging.getLogger(__name__)

WAIT = timedelta(minutes=10)  # for more requests
PATIENCE = 60.0  # seconds for the sidecar in one round
GRACE = 5.0  # seconds for a round to end when the program ends; later its claims lapse
_IDLE = 2.0  # seconds between two looks at an empty queue


def workers(application: Application, *, wait: timedelta = WAIT) -> list[Worker]:
    """The workers that the settings ask for; `wait` is how long a batch may wait for more requests."""
    settings, judge = application.settings, application.language_models.judge
    queue = Queue(
        pending=PendingQueue(application.engine), now=application.now, max_attempts=settings.pending.max_attempts
    )
    hearing = Hearings(labels=JudgedLabels(application.engine), sampling=sampling(settings.judge), now=application.now)
    crew: list[Worker] = [
        AssessingWorker(
            queue=queue,
            writer=application.writer(),
            assess=_assessing(application),
            kinds=[Work.ASSESS] if settings.sidecar.mode == "off" else [Work.ASSESS, Work.SIDECAR],
            hearing=hearing,
        )
    ]
    if judge is not None:
        crew.append(_judging(application, queue, judge, hearing, wait))
    return [*crew, *_sending(application, queue)]


def asks_a_model(settings: Settings) -> bool:
    """Whether a model outside this process is used."""
    return settings.embedding.provider == "openai" or settings.sidecar.mode != "off" or settings.judge.mode != "off"


def _assessing(application: Application) -> Assess:
    """Loads our own models when there is something to assess: where verdicts are only sent out, there never is.

    Wrong settings of others are told at once.
    """
    if asks_a_model(application.settings):
        return application.assessing.assess_with(PATIENCE)
    loaded = cache(application.assessing.assess_with)

    def assess(interactions: Sequence[Interaction]) -> list[Assessment]:
        return loaded(PATIENCE)(interactions)

    return assess


def _sending(application: Application, queue: Queue) -> Iterator[Worker]:
    switched_off = [kind for kind in SENDING if kind not in switched_on(application.settings)]
    yield ClearingWorker(pending=queue.pending, kinds=switched_off)
    for destination in destinations(application.settings):
        verdicts = VerdictQueue(application.engine, destination.kind)
        yield SendingWorker(queue=queue, verdicts=verdicts, destination=destination)


def _judging(application: Application, queue: Queue, judge: Judge, hearing: Hearings, wait: timedelta) -> Worker:
    writer, settings = application.writer(), application.settings
    chunk_scores = ChunkScores(application.engine, application.language_models.judging_model.model)
    direct = JudgingWorker(
        queue=queue,
        writer=writer,
        judge=judge,
        concurrency=settings.judge.concurrency,
        hearing=hearing,
        spread=chunk_scores.spread if METRIC in settings.judge.metrics else None,
    )
    if not settings.judge.batch:
        return direct
    from monitor.app.pending.batches import BatchJudgingWorker  # noqa: PLC0415  openai takes a second to import

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
    """Runs each worker on a thread of its own while the block runs."""
    stop, crew = Event(), workers(application)
    threads = [Thread(target=_work, args=(worker, stop), name=type(worker).__name__, daemon=True) for worker in crew]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(GRACE)
        for worker in crew:
            worker.close()


def work_off(application: Application, stop: Event) -> int:
    """Does all work that is due, until `stop` is set; returns the number of pieces, failures included.

    Raises:
        Retriable, Fatal: the database is out of reach, or refuses.
    """
    crew, taken = workers(application, wait=timedelta()), 0
    try:
        while not stop.is_set():
            rounds = [worker.round() for worker in crew]
            if all(done is None for done in rounds):
                break
            taken += sum(done or 0 for done in rounds)
    finally:
        for worker in crew:
            worker.close()
    return taken


def _work(worker: Worker, stop: Event) -> None:
    while not stop.is_set():
        try:
            done = worker.round()
        except MonitorError as error:
            log.warning("pending work is put off: %s", error)
            done = None
        except Exception:  # a defect: without this the thread would end unnoticed
            log.exception("a defect in pending work; trying again")
            done = None
        if done is None:
            stop.wait(_IDLE)
