"""The workers in a process of their own: what they compute never takes the interpreter from the events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

from pydantic import SecretStr

from monitor.app.background.process import child_process
from monitor.app.pending.workers import GRACE, working
from monitor.app.wiring.application import Application
from monitor.core.settings.load import Settings
from monitor.store.pending.queue import PendingQueue


@contextmanager
def worker_process(application: Application) -> Iterator[None]:
    """Has a process at the pending work while the block runs, if there is some, or the settings make some.

    One that dies is replaced; what it had in its hands is done when its claims have lapsed.

    Raises:
        WrongSettings: the judge has no model, or no key.
        Retriable: the database is out of reach.
    """
    judged = application.language_models.judge is not None
    left = any(count.waiting for count in PendingQueue(application.engine).counts(application.now()))
    if not (judged or left or makes_work(application.settings)):
        yield
        return
    url = SecretStr(application.database_url)
    settings = application.settings.model_copy(update={"database_url": url})
    with child_process(_work, settings, name="pending work", grace=2 * GRACE):
        yield


def makes_work(settings: Settings) -> bool:
    """Whether anything can be left undone with the event: where a model of another process is asked."""
    return settings.embedding.provider == "openai" or settings.sidecar.mode != "off" or settings.judge.mode != "off"


def _work(settings: Settings, parent: Connection) -> None:
    with Application(settings) as application, working(application), suppress(EOFError, OSError):
        parent.recv()  # until the other end is closed, by whatever end
