"""One module a page: its router, what it asks of the store, and its template."""

from fastapi import APIRouter, Depends

from monitor.web.guard import storable_texts
from monitor.web.pages import (
    alert,
    alerts,
    api,
    audit,
    dead_letters,
    interaction,
    interactions,
    overview,
    profiles,
    reports,
    review,
)

router = APIRouter(include_in_schema=False, dependencies=[Depends(storable_texts)])
for module in (overview, interactions, interaction, alerts, alert, review, reports, profiles, dead_letters, audit, api):
    router.include_router(module.router)
