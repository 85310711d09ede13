"""What load balancers and orchestrators ask: whether the process lives, and whether it can serve."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Thread
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import PlainTextResponse

from monitor.app.background.telemetry import StoreCollector, exposition
from monitor.app.wiring.application import Application
from monitor.core.errors import MonitorError, Retriable
from monitor.store.telemetry import TelemetryStore
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs

PATIENCE = 2.0  # seconds that `/readyz` waits
router = APIRouter(include_in_schema=False)


class Readiness:
    """Asks whether the database answers, once at a time, however many want to know and however long that takes."""

    def __init__(self, ask: Callable[[], None], *, patience: float = PATIENCE) -> None:
        self._ask = ask
        self._patience = patience
        self._changed = Condition()
        self._asking = False
        self._good = False

    def check(self) -> None:
        """Returns where it does.

        Raises:
            Retriable: it does not, or not within `patience` seconds.
        """
        with self._changed:
            if not self._asking:
                self._asking = True
                Thread(target=self._run, name="readiness", daemon=True).start()
            if not self._changed.wait_for(lambda: not self._asking, self._patience) or not self._good:
                raise Retriable("the database does not answer")

    def _run(self) -> None:
        good = False
        try:
            self._ask()
            good = True
        except MonitorError:
            pass  # what it was is for those who ask for more than this
        finally:
            with self._changed:
                self._asking, self._good = False, good
                self._changed.notify_all()


@router.get("/healthz")
def healthz() -> PlainTextResponse:
    """The process answers."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
def readyz(request: Request) -> PlainTextResponse:
    """The database answers too; 503 where it does not."""
    request.app.state.readiness.check()
    return PlainTextResponse("ready\n")


def collector(application: Application) -> StoreCollector:
    """What is scraped; it reads nothing before."""
    return StoreCollector(lambda now: TelemetryStore(application.engine).figures(now), application.now)


@router.get("/metrics")
def metrics(request: Request, _: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> Response:
    """As Prometheus reads them."""
    body, content_type = exposition(request.app.state.collector, request.headers.get("accept", ""))
    return Response(body, headers={"content-type": content_type})
