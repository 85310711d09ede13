"""The JSON API, `/api/v1`: one module a noun, described by OpenAPI."""

from fastapi import APIRouter, Depends, Security
from fastapi.security import HTTPBearer

from monitor.web.alert import api as alerts
from monitor.web.alert import api_silences as silences
from monitor.web.audit import api as audit
from monitor.web.base.parameters import known_parameters
from monitor.web.interaction import api as interactions
from monitor.web.interaction import api_export as export
from monitor.web.interaction import api_overview as overview
from monitor.web.ledger import api as ledger
from monitor.web.ledger import api_dead_letters as dead_letters
from monitor.web.report import api as reports
from monitor.web.review import api as labels
from monitor.web.review import api_profiles as profiles

PREFIX = "/api/v1"
_bearer = HTTPBearer(auto_error=False, description="An access token: `monitor tokens create NAME --role viewer`.")
router = APIRouter(prefix=PREFIX, dependencies=[Security(_bearer), Depends(known_parameters)])
for module in (
    overview, interactions, export, labels, alerts, silences, profiles, dead_letters, reports, audit, ledger
):  # fmt: skip
    router.include_router(module.router)
