from __future__ import annotations

from monitor.core.settings.web import OidcSettings
from monitor.web.base.access import Role
from monitor.web.signin.role_claim import role_of


def settings(**roles):
    return OidcSettings(issuer="https://id.example.org", client_id="monitor", **{"viewers": ("staff",), **roles})


def test_only_values_of_the_claim_make_a_role():
    assert role_of({"groups": ["staff"]}, settings()) is Role.VIEWER
    assert role_of({"groups": "staff"}, settings()) is Role.VIEWER
    for claims in ({}, {"groups": None}, {"groups": 7}, {"groups": {"staff": 1}}, {"groups": [["staff"]]}):
        assert role_of(claims, settings()) is None


def test_the_highest_of_several_wins():
    wide = settings(operators=("ops",), auditors=("audit",), admins=("root",))
    assert role_of({"groups": ["staff", "ops"]}, wide) is Role.OPERATOR
    assert role_of({"groups": ["ops", "audit"]}, wide) is Role.AUDITOR
    assert role_of({"groups": ["audit", "root"]}, wide) is Role.ADMIN


def test_a_name_with_dots_is_the_claim_of_that_name_first():
    inner = settings(role_claim="a.b")
    assert role_of({"a": {"b": ["staff"]}}, inner) is Role.VIEWER
    assert role_of({"a.b": ["others"], "a": {"b": ["staff"]}}, inner) is None
    assert role_of({"a": "staff"}, inner) is None


def test_a_star_is_everybody_who_signs_in_there():
    assert role_of({}, settings(viewers=("*",))) is Role.VIEWER
