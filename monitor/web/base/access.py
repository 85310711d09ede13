"""Roles and permissions: each route asks for one permission, and each of the five roles grants some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

LOCAL = "local"  # the user of this machine, in the audit trail


class Permission(StrEnum):
    """What a route needs."""

    VIEW = "view"  # see stored data, personal data masked
    UNMASK = "unmask"  # see personal data; the audit trail records each look
    ACT = "act"  # acknowledge and silence alerts
    LABEL = "label"  # label answers
    RESOLVE = "resolve"  # retry dead letters
    REPORT = "report"  # have reports written now
    AUDIT = "audit"  # verify, prove, export
    CONFIGURE = "configure"  # save versions of the alert rules
    COLLECT = "collect"  # send traces and interactions
    ADMIN = "admin"  # make and revoke tokens


class Role(StrEnum):
    """The role of a token or a person."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    AUDITOR = "auditor"
    COLLECT = "collect"  # of a chatbot, which may send and do nothing else
    ADMIN = "admin"

    def may(self, permission: Permission) -> bool:
        return permission in _GRANTED[self]


_P = Permission
_GRANTED: Mapping[Role, frozenset[Permission]] = {
    Role.VIEWER: frozenset({_P.VIEW}),
    Role.OPERATOR: frozenset({_P.VIEW, _P.UNMASK, _P.ACT, _P.LABEL, _P.RESOLVE, _P.REPORT}),
    Role.AUDITOR: frozenset({_P.VIEW, _P.UNMASK, _P.AUDIT, _P.REPORT}),
    Role.COLLECT: frozenset({_P.COLLECT}),
    Role.ADMIN: frozenset(Permission),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who makes a request. `name` is as the audit trail records it: `token:ada`, `oidc:ada@example.org`, `LOCAL`.

    An unsafe request must carry `csrf`; it is None for a bearer token, which no browser sends by itself.
    """

    name: str
    role: Role
    csrf: str | None = None

    def may(self, permission: Permission) -> bool:
        return self.role.may(permission)
