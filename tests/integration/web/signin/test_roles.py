"""The role matrix: requests every route without a user and with each role. A new route must be added here."""

from __future__ import annotations

import re

import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import Mount

from monitor.web.base.access import Permission, Role
from monitor.web.base.guard import Needs
from tests.factories.answers import a_batch, a_dead_letter, an_assessment

# For everybody: what is needed before signing in, and what says nothing of what is stored.
OPEN = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/signin"),
    ("POST", "/signin"),
    ("GET", "/signin/link"),
    ("GET", "/signin/oidc"),
    ("GET", "/signin/oidc/callback"),
    ("GET", "/api/v1/openapi.json"),
}
MATRIX = {
    Permission.VIEW: {Role.VIEWER, Role.OPERATOR, Role.AUDITOR, Role.ADMIN},
    Permission.UNMASK: {Role.OPERATOR, Role.AUDITOR, Role.ADMIN},
    Permission.ACT: {Role.OPERATOR, Role.ADMIN},
    Permission.LABEL: {Role.OPERATOR, Role.ADMIN},
    Permission.RESOLVE: {Role.OPERATOR, Role.ADMIN},
    Permission.REPORT: {Role.OPERATOR, Role.AUDITOR, Role.ADMIN},
    Permission.AUDIT: {Role.AUDITOR, Role.ADMIN},
    Permission.CONFIGURE: {Role.ADMIN},
    Permission.COLLECT: {Role.COLLECT, Role.ADMIN},
    Permission.ADMIN: {Role.ADMIN},
}
NAVIGATION = {"app": "support-bot", "id": "q-1", "fingerprint": "0" * 32, "week": "2025-W47", "form": "csv"}
ALLOWED = {200, 201, 202, 204, 303, 400, 404, 409, 422}  # whatever became of it, it was let in


def routes(site):
    """Method, path and permissions of every route, sign-out last; only static files are mounted."""
    found = []
    for context in iter_route_contexts(site.app.routes):
        if isinstance(context.original_route, Mount):
            assert context.path == "/static"
        else:
            found += [(method, context.path, needs_of(context)) for method in context.methods - {"HEAD"}]
    return sorted(found, key=lambda route: (route[1] == "/signout", route[1]))


def needs_of(context):
    """The permissions that a route and its dependencies need."""
    left = [context.dependant] if isinstance(context.original_route, APIRoute) else []
    found = set()
    while left:
        its = left.pop()
        left += its.dependencies
        if isinstance(its.call, Needs):
            found.add(its.call.permission)
    return found


def test_every_route_asks_for_a_permission_or_is_meant_to_be_open(site):
    found = routes(site)
    assert len(found) > len(OPEN)
    for method, path, needs in found:
        if (method, path) in OPEN:
            assert not needs, (method, path)
        else:
            assert len(needs) == 1, f"{method} {path} asks for no permission, and is not among those that are open"
    assert {(method, path) for method, path, _ in found} >= OPEN


def test_the_matrix_is_what_roles_may():
    assert {p: {role for role in Role if role.may(p)} for p in Permission} == MATRIX


def asked(client, method, path):
    """The response to a request for a path of that form, with a body if the route takes one."""
    for name, place in re.findall(r"\{(\w+)(:path)?\}", path):
        path = path.replace(f"{{{name}{place}}}", NAVIGATION.get(name, "1"))
    body = {"json": {}} if path.startswith("/api/") and method not in {"GET", "DELETE"} else {}
    return client.request(method, path, **body)


@pytest.fixture
def filled(writer):
    writer.write(a_batch(an_assessment(), dead_letters=(a_dead_letter(),)))


@pytest.mark.usefixtures("filled")
def test_nobody_gets_in_without_signing_in(site):
    nobody = site.anonymous()
    for method, path, _ in routes(site):
        if (method, path) in OPEN:
            continue
        answer = asked(nobody, method, path)
        if path.startswith("/api/"):
            # a body is looked at first
            assert answer.status_code in ({401, 422} if method == "POST" else {401}), (method, path)
        else:
            assert answer.status_code in {303, 422}, (method, path)
            assert answer.status_code == 422 or answer.headers["location"].startswith("/signin"), (method, path)


@pytest.mark.parametrize("role", Role)
@pytest.mark.usefixtures("filled")
def test_each_role_gets_in_where_the_matrix_says_so(site, role):
    client = site.by_token(role)
    for method, path, needs in routes(site):
        if (method, path) in OPEN:
            continue
        (permission,) = needs
        status = asked(client, method, path).status_code
        if role in MATRIX[permission]:
            assert status in ALLOWED, (method, path, status)
        else:
            assert status == 403, (method, path, status)


def test_who_may_only_send_is_not_signed_in(site):
    answer = site.anonymous().post("/signin", data={"token": site.token(Role.COLLECT)})
    assert answer.status_code == 403
    assert "may only send traces and interactions" in answer.text


@pytest.mark.parametrize("role", sorted(MATRIX[Permission.VIEW]))
@pytest.mark.usefixtures("filled")
def test_in_a_browser_the_same_holds_and_every_unsafe_request_takes_what_a_form_brings(site, role):
    client, csrf = site.signed_in(role)
    for method, path, needs in routes(site):
        if (method, path) in OPEN or method == "GET":
            continue
        (permission,) = needs
        assert asked(client, method, path).status_code in {403, 422}, (method, path)
        client.headers["x-csrf-token"] = csrf
        status = asked(client, method, path).status_code
        del client.headers["x-csrf-token"]
        assert status in (ALLOWED if role in MATRIX[permission] else {403}), (method, path, status)
