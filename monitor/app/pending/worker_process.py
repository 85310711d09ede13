"""Runs the workers in a process of their own, so that they never take the interpreter from the events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

from pydantic import SecretStr

from monitor.app.background.process import child_process
from monitor.app.pending.workers import GRACE, asks_a_model, working
from monitor.app.wiring.application import Application
from monitor.app.wiring.export import destinations, switched_on
from monitor.core.pending import SENDING
from monitor.core.settings.load import Settings
from monitor.store.pending.queue import PendingQueue


@contextmanager
def worker_process(application: Application) -> Iterator[None]:
    """Runs the workers in a child process while the block runs, if there is pending work or the settings may cause it.

    A process that dies is replaced; its claims lapse and are then done by others.

    Raises:
        WrongSettings: the judge has no model or no key, or settings of a destination of verdicts contradict each other.
        Retriable: the database is out of reach.
    """
    judged = application.language_models.judge is not None
    destinations(application.settings)  # so that wrong settings are told at the start
    left = any(
        count.waiting or count.kind in SENDING for count in PendingQueue(application.engine).counts(application.now())
    )
    if not (judged or left or makes_work(application.settings)):
        yield
        return
    url = SecretStr(application.database_url)
    settings = application.settings.model_copy(update={"database_url": url})
    ended = application.process_metrics.ended
    with child_process(_work, settings, name="pending work", grace=2 * GRACE, ended=ended):
        yield


def makes_work(settings: Settings) -> bool:
    """Whether events can leave pending work: a model outside this process is used, or verdicts are sent out."""
    return bool(switched_on(settings)) or asks_a_model(settings)


def _work(settings: Settings, parent: Connection) -> None:
    with Application(settings) as application, working(application), suppress(EOFError, OSError):
        parent.recv()  # returns when the parent closes its end, or dies
