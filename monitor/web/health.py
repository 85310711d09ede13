"""What load balancers and orchestrators ask: whether the process lives, and whether it can serve."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
def healthz() -> PlainTextResponse:
    """The process answers."""
    return PlainTextResponse("ok\n")


@router.get("/readyz")
def readyz(request: Request) -> PlainTextResponse:
    """The database answers too; 503 where it does not."""
    request.app.state.application.queries.answers()
    return PlainTextResponse("ready\n")
