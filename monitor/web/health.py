"""Endpoints for load balancers, orchestrators and Prometheus: whether the process lives, can serve, and its metrics."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Thread

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import PlainTextResponse

from monitor.app.metrics.pages import ALL, INSTALLATION, PROCESS, MetricsPages
from monitor.core.errors import MonitorError, Retriable
from monitor.web.base.access import Permission
from monitor.web.base.guard import Needs

PATIENCE = 2.0  # seconds that `/readyz` waits for the database
router = APIRouter(include_in_schema=False)


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
            pass  # requests that need the database report the error themselves
        finally:
            with self._changed:
                self._asking, self._ready = False, ready
                self._changed.notify_all()


@router.get("/healthz")
def healthz() -> PlainTextResponse:
    """The process answers."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
def readyz(request: Request) -> PlainTextResponse:
    """The process and the database answer; 503 when the database does not."""
    request.app.state.readiness.check()
    return PlainTextResponse("ready\n")


@router.get(ALL, dependencies=[Depends(Needs(Permission.VIEW))])
@router.get(PROCESS, dependencies=[Depends(Needs(Permission.VIEW))])
@router.get(INSTALLATION, dependencies=[Depends(Needs(Permission.VIEW))])
def metrics(request: Request) -> Response:
    """Metrics in Prometheus's text format, or in OpenMetrics: all, or those of this process or of the installation."""
    pages: MetricsPages = request.app.state.metrics_pages
    body, content_type = pages.page(request.url.path, request.headers.get("accept", ""))
    return Response(body, headers={"content-type": content_type})
