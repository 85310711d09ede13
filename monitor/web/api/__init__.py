"""The JSON API, `/api/v1`: one module a noun, described by OpenAPI."""

from fastapi import APIRouter, Depends, Security
from fastapi.security import HTTPBearer

from monitor.web.api import (
    alerts,
    audit,
    dead_letters,
    export,
    interactions,
    labels,
    ledger,
    overview,
    profiles,
    reports,
    silences,
)
from monitor.web.api.parameters import known_parameters

PREFIX = "/api/v1"
_bearer = HTTPBearer(auto_error=False, description="An access token: `monitor tokens create NAME --role viewer`.")
router = APIRouter(prefix=PREFIX, dependencies=[Security(_bearer), Depends(known_parameters)])
for module in (
    overview, interactions, export, labels, alerts, silences, profiles, dead_letters, reports, audit, ledger
):  # fmt: skip
    router.include_router(module.router)
