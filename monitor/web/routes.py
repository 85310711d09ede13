"""Collects all routes: the pages, and the JSON API under `/api/v1`. A new one needs an import and a line."""

from fastapi import APIRouter, Depends, Security
from fastapi.security import HTTPBearer

from monitor.web.alert import api as alert_api
from monitor.web.alert import api_rules as rules_api
from monitor.web.alert import api_silences as silence_api
from monitor.web.alert import list_page as alert_list_page
from monitor.web.alert import page as alert_page
from monitor.web.alert import rules_edit_page, rules_page
from monitor.web.audit import api as audit_api
from monitor.web.audit import page as audit_page
from monitor.web.base import api_page
from monitor.web.base.guard import reject_nul
from monitor.web.base.parameters import reject_unknown_parameters
from monitor.web.deadletters import api as dead_letter_api
from monitor.web.deadletters import page as dead_letter_page
from monitor.web.interaction import api as interaction_api
from monitor.web.interaction import api_export as export_api
from monitor.web.interaction import api_overview as overview_api
from monitor.web.interaction import api_unscored as unscored_api
from monitor.web.interaction import list_page as interaction_list_page
from monitor.web.interaction import overview_page
from monitor.web.interaction import page as interaction_page
from monitor.web.ledger import api as ledger_api
from monitor.web.probe import api as probe_api
from monitor.web.probe import page as probe_page
from monitor.web.report import api as report_api
from monitor.web.report import page as report_page
from monitor.web.review import api as label_api
from monitor.web.review import api_profiles as profile_api
from monitor.web.review import api_rates as rates_api
from monitor.web.review import page as review_page
from monitor.web.review import profiles_page as profile_page

PREFIX = "/api/v1"
_bearer = HTTPBearer(
    auto_error=False, description="An access token, made by `monitor tokens create NAME --role viewer`."
)

pages = APIRouter(include_in_schema=False, dependencies=[Depends(reject_nul)])
for page in (
    overview_page,
    interaction_list_page,
    interaction_page,
    alert_list_page,
    rules_page,
    rules_edit_page,
    alert_page,
    review_page,
    probe_page,
    report_page,
    profile_page,
    dead_letter_page,
    audit_page,
    api_page,
):
    pages.include_router(page.router)

api = APIRouter(prefix=PREFIX, dependencies=[Security(_bearer), Depends(reject_unknown_parameters)])
for operations in (
    overview_api,
    interaction_api,
    export_api,
    unscored_api,
    label_api,
    rates_api,
    alert_api,
    silence_api,
    rules_api,
    profile_api,
    dead_letter_api,
    probe_api,
    report_api,
    audit_api,
    ledger_api,
):
    api.include_router(operations.router)
