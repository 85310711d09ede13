"""Signing in with an access token, and out again. The token is exchanged for a session in a cookie."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from ipaddress import ip_address, ip_network
from math import ceil
from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from monitor.store.tokens import Session
from monitor.web.base.access import Identity, Permission
from monitor.web.base.guard import Guard, Needs, same_site
from monitor.web.base.page import bare_page, local

PATH = "/signin"
_NETWORK = 64  # bits of an IPv6 address that name its network: one house has all the rest
router = APIRouter(include_in_schema=False)


@router.get(PATH)
def sign_in_page(request: Request, next: str = "/") -> Response:  # noqa: A002  the name in the address
    """The form."""
    return form(request, next)


@router.post(PATH)
def sign_in(
    request: Request, token: Annotated[str, Form(max_length=200)], after: Annotated[str, Form(alias="next")] = "/"
) -> Response:
    """A session for a token that holds."""
    same_site(request)  # nobody is to be signed in as somebody else without noticing
    tried(request)
    guard: Guard = request.app.state.guard
    now = guard.now()
    its = guard.access.holder(token.strip(), now)
    if its is None:
        return form(request, after, "This token opens nothing: it is wrong, revoked or expired.", status=403)
    return begun(request, Session(subject=f"token:{its.name}", role=its.role), after, token_id=its.id)


@router.post("/signout")
def sign_out(request: Request, _: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> Response:
    """Ends the session."""
    guard: Guard = request.app.state.guard
    if secret := request.cookies.get(guard.cookie):
        guard.access.end_session(secret)
    answer = RedirectResponse(PATH, HTTPStatus.SEE_OTHER)
    answer.delete_cookie(guard.cookie, path="/", secure=guard.secure, httponly=True, samesite="lax")
    return answer


def form(request: Request, after: str, said: str | None = None, *, status: int = 200) -> Response:
    """The page to sign in at; `said` is what came of the last try."""
    oidc = request.app.state.application.settings.web.oidc.issuer is not None
    return bare_page("signin/signin.html", status=status, after=local(after), said=said, oidc=oidc)


def tried(request: Request) -> None:
    """Counts a try to sign in; answers 429 where there were too many."""
    guard: Guard = request.app.state.guard
    wait = guard.sign_in_limit.attempt(_network(request.client.host if request.client else ""), guard.now())
    if wait is not None:
        seconds = str(ceil(wait.total_seconds()))
        said = f"too many tries; again in {seconds} s"
        raise HTTPException(HTTPStatus.TOO_MANY_REQUESTS, said, {"Retry-After": seconds})


def begun(request: Request, session: Session, after: str, *, token_id: str | None = None) -> Response:
    """On to where they wanted to go, with a new session in their cookie; the one before it ends."""
    guard: Guard = request.app.state.guard
    guard.sign_in_limit.clear(_network(request.client.host if request.client else ""))
    length = timedelta(hours=request.app.state.application.settings.web.session_hours)
    if before := request.cookies.get(guard.cookie):
        guard.access.end_session(before)
    secret = guard.access.begin_session(session, now=guard.now(), length=length, token_id=token_id)
    answer = RedirectResponse(local(after), HTTPStatus.SEE_OTHER)
    answer.set_cookie(
        guard.cookie, secret, max_age=int(length.total_seconds()), path="/", secure=guard.secure, httponly=True,
        samesite="lax",  # strict would sign people out who come by the link in Slack
    )  # fmt: skip
    return answer


def _network(address: str) -> str:
    """Whose tries these are."""
    try:
        if ip_address(address).version == 6:  # noqa: PLR2004
            return str(ip_network(f"{address}/{_NETWORK}", strict=False))
    except ValueError:  # no address: a socket, or a test
        pass
    return address
