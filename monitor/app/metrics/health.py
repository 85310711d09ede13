"""Says whether this process lives and can work, for orchestrators: `/healthz` and `/readyz`.

They are answered beside the metrics, and by `monitor serve` at the address of its pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING

from monitor.core.errors import MonitorError, Retriable

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

PATIENCE = 2.0  # seconds that `/readyz` waits for the database
LIVE, READY = "/healthz", "/readyz"
Check = Callable[[], None]  # raises MonitorError with what is wrong, for anyone to read


class Readiness:
    """Asks whether the database answers, with one query at a time for any number of callers, however long it takes."""

    def __init__(self, ask: Callable[[], None], *, patience: float = PATIENCE) -> None:
        self._ask = ask
        self._patience = patience
        self._changed = Condition()
        self._asking = False
        self._ready = False

    def check(self) -> None:
        """Returns when the database answers.

        Raises:
            Retriable: it does not answer, or not within `patience` seconds.
        """
        with self._changed:
            if not self._asking:
                self._asking = True
                Thread(target=self._run, name="readiness", daemon=True).start()
            if not self._changed.wait_for(lambda: not self._asking, self._patience) or not self._ready:
                raise Retriable("the database does not answer")

    def _run(self) -> None:
        ready = False
        try:
            self._ask()
            ready = True
        except MonitorError:
            pass  # what needs the database reports the error itself
        finally:
            with self._changed:
                self._asking, self._ready = False, ready
                self._changed.notify_all()


def lives() -> None:
    """The check of a process of which no more is known than that it answers."""


def polls(polled_at: Callable[[], float], longest: float, *, clock: Callable[[], float] = monotonic) -> Check:
    """Checks that Kafka was polled in the last `longest` seconds; both times are of `clock`.

    A consumer polls whatever a batch takes and whatever is away. After `max_poll_interval_ms` without a poll its group
    has given its partitions to others, and only a restart brings it back.
    """

    def check() -> None:
        if (silent := clock() - polled_at()) > longest:
            raise Retriable(f"Kafka was polled {silent:.0f} s ago for the last time")

    return check


class Health:
    """Whether this process lives, by `alive`, and whether it can work, by `ready` too."""

    def __init__(self, *, alive: Check, ready: Check) -> None:
        self._alive = alive
        self._ready = ready

    def answer(self, path: str) -> tuple[HTTPStatus, str]:
        """The status and the text for `LIVE` or `READY`: 503 and what is wrong if a check fails."""
        checks, text = ((self._alive,), "ok\n") if path == LIVE else ((self._alive, self._ready), "ready\n")
        try:
            for check in checks:
                check()
        except MonitorError as error:
            return HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n"
        return HTTPStatus.OK, text

    def beside(self, others: WSGIApplication) -> WSGIApplication:
        """Answers `/healthz` and `/readyz`; `others` answers the rest."""

        def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            path = environ["PATH_INFO"]
            if path not in {LIVE, READY}:
                return others(environ, start_response)
            status, text = self.answer(path)
            start_response(f"{status.value} {status.phrase}", [("Content-Type", "text/plain; charset=utf-8")])
            return [text.encode()]

        return answer
