"""One module a page: its router, what it asks of the store, and its template."""

from fastapi import APIRouter

from monitor.web.pages import alert, alerts, overview

router = APIRouter(include_in_schema=False)
for module in (overview, alerts, alert):
    router.include_router(module.router)
