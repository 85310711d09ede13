"""One module a page: its router, what it asks of the store, and its template."""

from fastapi import APIRouter, Depends

from monitor.web.alert import list_page as alerts
from monitor.web.alert import page as alert
from monitor.web.audit import page as audit
from monitor.web.base import api_page as api
from monitor.web.base.guard import storable_texts
from monitor.web.interaction import list_page as interactions
from monitor.web.interaction import overview_page as overview
from monitor.web.interaction import page as interaction
from monitor.web.ledger import page as dead_letters
from monitor.web.report import page as reports
from monitor.web.review import page as review
from monitor.web.review import profiles_page as profiles

router = APIRouter(include_in_schema=False, dependencies=[Depends(storable_texts)])
for module in (overview, interactions, interaction, alerts, alert, review, reports, profiles, dead_letters, audit, api):
    router.include_router(module.router)
