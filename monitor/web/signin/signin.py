"""Signs people in with an access token, which is exchanged for a session cookie, and out again."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Query, Request, Response
from fastapi.responses import RedirectResponse

from monitor.core.errors import MonitorError
from monitor.store.tokens import Session
from monitor.web.base.access import Permission, Role
from monitor.web.base.guard import Guard, Needs, require_same_site
from monitor.web.base.page import bare_page, local_path

PATH = "/signin"
LONGEST_AWAY = timedelta(minutes=10)  # from the redirect to an organisation's provider until the return
_NETWORK_BITS = 64  # of an IPv6 address; one household has all addresses of its network
router = APIRouter(include_in_schema=False)
Destination = Annotated[str, Query(alias="next")]


class SignInRefused(MonitorError):
    """The answer of an organisation's provider does not let the person in; the message is for them."""


@router.get(PATH)
def sign_in_page(request: Request, destination: Destination = "/") -> Response:
    return sign_in_form(request, destination)


@router.post(PATH)
def sign_in(
    request: Request, token: Annotated[str, Form(max_length=200)], destination: Annotated[str, Form(alias="next")] = "/"
) -> Response:
    require_same_site(request)  # otherwise a foreign page could sign somebody in under another name
    count_attempt(request)
    guard: Guard = request.app.state.guard
    now = guard.now()
    holder = guard.access.holder(token.strip(), now)
    if holder is None:
        problem = "This access token is wrong, revoked or expired. Ask an administrator for a new one."
        return sign_in_form(request, destination, problem, status=403)
    if not Role(holder.role).may(Permission.VIEW):
        problem = "This access token may only send traces and interactions. Ask an administrator for one of your own."
        return sign_in_form(request, destination, problem, status=403)
    session = Session(subject=f"token:{holder.name}", role=holder.role)
    return begin_session(request, session, destination, token_id=holder.id)


@router.post("/signout", dependencies=[Depends(Needs(Permission.VIEW))])
def sign_out(request: Request) -> Response:
    guard: Guard = request.app.state.guard
    if secret := request.cookies.get(guard.cookie):
        guard.access.end_session(secret)
    response = RedirectResponse(PATH, HTTPStatus.SEE_OTHER)
    response.delete_cookie(guard.cookie, path="/", secure=guard.secure, httponly=True, samesite="lax")
    return response


def sign_in_form(request: Request, destination: str, problem: str | None = None, *, status: int = 200) -> Response:
    """The sign-in page; `problem` says why the last attempt failed."""
    guard: Guard = request.app.state.guard
    return bare_page(
        "signin/signin.html",
        status=status,
        destination=local_path(destination),
        problem=problem,
        oidc=request.app.state.application.settings.web.oidc.issuer is not None,
        by_link=not guard.is_closed(),
    )


def count_attempt(request: Request) -> None:
    """Counts an attempt to sign in; answers 429 after too many."""
    guard: Guard = request.app.state.guard
    wait = guard.sign_in_limit.attempt(_network(request.client.host if request.client else ""), guard.now())
    if wait is not None:
        seconds = str(ceil(wait.total_seconds()))
        message = f"too many attempts to sign in; try again in {seconds} s"
        raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, message, {"Retry-After": seconds})


def begin_session(request: Request, session: Session, destination: str, *, token_id: str | None = None) -> Response:
    """Redirects to `destination` with the cookie of a new session; ends the session of the cookie before."""
    guard: Guard = request.app.state.guard
    guard.sign_in_limit.clear(_network(request.client.host if request.client else ""))
    length = timedelta(hours=request.app.state.application.settings.web.session_hours)
    if before := request.cookies.get(guard.cookie):
        guard.access.end_session(before)
    secret = guard.access.begin_session(session, now=guard.now(), length=length, token_id=token_id)
    response = RedirectResponse(local_path(destination), HTTPStatus.SEE_OTHER)
    response.set_cookie(
        guard.cookie,
        secret,
        max_age=int(length.total_seconds()),
        path="/",
        secure=guard.secure,
        httponly=True,
        samesite="lax",  # with `strict`, people who follow a link in Slack would have to sign in again
    )
    return response


def _network(address: str) -> str:
    """The address or network that attempts to sign in are counted for."""
    try:
        known = ip_address(address)
        if isinstance(known, IPv6Address):
            # an IPv4 address that a proxy writes as ::ffff:192.0.2.7 must not share a network with all others
            return str(known.ipv4_mapped or ip_network(f"{address}/{_NETWORK_BITS}", strict=False))
    except ValueError:  # not an IP address: a Unix socket, or a test
        pass
    return address
