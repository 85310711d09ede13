"""Who may do what: four roles, and one permission that each route asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Permission(StrEnum):
    """What a route needs."""

    VIEW = "view"  # what is stored, personal data masked
    UNMASK = "unmask"  # the same in clear; each look is kept in the audit trail
    ACT = "act"  # acknowledge, silence
    LABEL = "label"  # say whether an answer was right
    RESOLVE = "resolve"  # retry dead letters
    REPORT = "report"  # have reports written now
    AUDIT = "audit"  # verify, prove, export
    ADMIN = "admin"  # make and revoke tokens


class Role(StrEnum):
    """What a token or a person is."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    AUDITOR = "auditor"
    ADMIN = "admin"

    def may(self, permission: Permission) -> bool:
        """Whether somebody of this role may do that."""
        return permission in _GRANTED[self]


_P = Permission
_GRANTED: Mapping[Role, frozenset[Permission]] = {
    Role.VIEWER: frozenset({_P.VIEW}),
    Role.OPERATOR: frozenset({_P.VIEW, _P.UNMASK, _P.ACT, _P.LABEL, _P.RESOLVE, _P.REPORT}),
    Role.AUDITOR: frozenset({_P.VIEW, _P.UNMASK, _P.AUDIT, _P.REPORT}),
    Role.ADMIN: frozenset(Permission),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who asks: `name` as the audit trail keeps it (`token:ada`, `oidc:ada@example.org`, `local`).

    `csrf` is what an unsafe request of theirs has to bring along; None where no browser sends their secret by itself.
    """

    name: str
    role: Role
    csrf: str | None = None

    def may(self, permission: Permission) -> bool:
        """Whether they may do that."""
        return self.role.may(permission)
