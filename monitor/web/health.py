"""Endpoints for load balancers, orchestrators and Prometheus: whether the process lives, can serve, and its metrics."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import PlainTextResponse

from monitor.app.background.telemetry import exposition
from monitor.app.metrics.health import LIVE, READY
from monitor.web.base.access import Permission
from monitor.web.base.guard import Needs

router = APIRouter(include_in_schema=False)


@router.get(LIVE)
def healthz() -> PlainTextResponse:
    """The process answers."""
    return PlainTextResponse("ok\n")


@router.get(READY)
def readyz(request: Request) -> PlainTextResponse:
    """The process and the database answer; 503 when the database does not."""
    request.app.state.readiness.check()
    return PlainTextResponse("ready\n")


@router.get("/metrics", dependencies=[Depends(Needs(Permission.VIEW))])
def metrics(request: Request) -> Response:
    """The metrics in Prometheus's text format, or in OpenMetrics."""
    body, content_type = exposition(request.app.state.collector, request.headers.get("accept", ""))
    return Response(body, headers={"content-type": content_type})
