"""Endpoints for load balancers, orchestrators and Prometheus: whether the process lives, can serve, and its metrics."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import PlainTextResponse

from monitor.app.metrics.health import LIVE, READY, Health
from monitor.app.metrics.pages import ALL, INSTALLATION, PROCESS, MetricsPages
from monitor.web.base.access import Permission
from monitor.web.base.guard import Needs

router = APIRouter(include_in_schema=False)


@router.get(LIVE)
@router.get(READY)
def health(request: Request) -> PlainTextResponse:
    """Whether the process answers, and with `/readyz` whether the database does; 503 and what is wrong if not."""
    its: Health = request.app.state.health
    status, text = its.answer(request.url.path)
    return PlainTextResponse(text, status)


@router.get(ALL, dependencies=[Depends(Needs(Permission.VIEW))])
@router.get(PROCESS, dependencies=[Depends(Needs(Permission.VIEW))])
@router.get(INSTALLATION, dependencies=[Depends(Needs(Permission.VIEW))])
def metrics(request: Request) -> Response:
    """Metrics in Prometheus's text format, or in OpenMetrics: all, or those of this process or of the installation."""
    pages: MetricsPages = request.app.state.metrics_pages
    body, content_type = pages.page(request.url.path, request.headers.get("accept", ""))
    return Response(body, headers={"content-type": content_type})
