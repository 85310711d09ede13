"""Overview: how the answers are now, by verdict, app and model, and whether anything is on fire."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from monitor.web.access import Identity, Permission
from monitor.web.guard import Needs
from monitor.web.page import page

router = APIRouter()


@router.get("/")
def overview(request: Request, who: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> HTMLResponse:
    """The page."""
    return page(request, "overview.html", who)
