"""The role that a provider's claim gives a person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitor.core.settings.web import OidcSettings
from monitor.web.base.access import Role

_HIGHEST_FIRST = (Role.ADMIN, Role.AUDITOR, Role.OPERATOR, Role.VIEWER)


def role_of(claims: Mapping[str, Any], settings: OidcSettings) -> Role | None:
    """The highest role that a value of the configured claim gives; the claim may be nested: `realm_access.roles`.

    An e-mail address gives a role only if the provider has verified it: some providers let people enter any.
    """
    claim: Any = claims
    for name in (settings.role_claim,) if settings.role_claim in claims else settings.role_claim.split("."):
        claim = claim.get(name) if isinstance(claim, Mapping) else None
    values = {value for value in (claim if isinstance(claim, list) else [claim]) if isinstance(value, str)}
    if settings.role_claim == "email" and claims.get("email_verified") is not True:
        values = set()
    accepted = {
        Role.ADMIN: settings.admins,
        Role.AUDITOR: settings.auditors,
        Role.OPERATOR: settings.operators,
        Role.VIEWER: settings.viewers,
    }
    return next((role for role in _HIGHEST_FIRST if "*" in accepted[role] or values & set(accepted[role])), None)
