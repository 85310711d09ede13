"""`/metrics` of the dashboard: the same figures as `monitor run` shows, for whoever may view."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from monitor.app.background.telemetry import StoreCollector, exposition
from monitor.app.wiring.application import Application
from monitor.store.telemetry import TelemetryStore
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Needs

router = APIRouter(include_in_schema=False)


def collector(application: Application) -> StoreCollector:
    """What is scraped; it reads nothing before."""
    return StoreCollector(lambda now: TelemetryStore(application.engine).figures(now), application.now)


@router.get("/metrics")
def metrics(request: Request, _: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> Response:
    """As Prometheus reads them."""
    body, content_type = exposition(request.app.state.collector, request.headers.get("accept", ""))
    return Response(body, headers={"content-type": content_type})
