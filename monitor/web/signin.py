"""Signing in with an access token, and out again. The token is exchanged for a session in a cookie."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from math import ceil
from typing import Annotated

from fastapi import APIRouter, Depends, Form, HTTPException, Request, Response
from fastapi.responses import RedirectResponse

from monitor.store.access import Session
from monitor.web.access import Identity, Permission
from monitor.web.guard import Guard, Needs
from monitor.web.limit import Limit
from monitor.web.page import bare_page, local

PATH = "/signin"
TRIES, WINDOW = 10, timedelta(minutes=1)  # of one address
router = APIRouter(include_in_schema=False)
limit = Limit(most=TRIES, window=WINDOW)


@router.get(PATH)
def sign_in_page(request: Request, next: str = "/") -> Response:  # noqa: A002  the name in the address
    """The form."""
    return bare_page("signin.html", after=local(next), said=None, oidc=_oidc(request))


@router.post(PATH)
def sign_in(
    request: Request, token: Annotated[str, Form(max_length=200)], after: Annotated[str, Form(alias="next")] = "/"
) -> Response:
    """A session for a token that holds."""
    guard: Guard = request.app.state.guard
    now, address = guard.now(), request.client.host if request.client else ""
    if (wait := limit.taken(address, now)) is not None:
        seconds = str(ceil(wait.total_seconds()))
        raise HTTPException(
            HTTPStatus.TOO_MANY_REQUESTS, f"too many tries; again in {seconds} s", {"Retry-After": seconds}
        )
    its = guard.access.holder(token.strip(), now)
    if its is None:
        said = "This token opens nothing: it is wrong, revoked or expired."
        return bare_page("signin.html", status=403, after=local(after), said=said, oidc=_oidc(request))
    limit.forgive(address)
    length = timedelta(hours=request.app.state.application.settings.web.session_hours)
    session = Session(subject=f"token:{its.name}", role=its.role)
    return begun(guard, guard.access.begin_session(session, now=now, length=length, token_id=its.id), length, after)


@router.post("/signout")
def sign_out(request: Request, _: Annotated[Identity, Depends(Needs(Permission.VIEW))]) -> Response:
    """Ends the session."""
    guard: Guard = request.app.state.guard
    if secret := request.cookies.get(guard.cookie):
        guard.access.end_session(secret)
    answer = RedirectResponse(PATH, HTTPStatus.SEE_OTHER)
    answer.delete_cookie(guard.cookie, path="/", secure=guard.secure, httponly=True, samesite="lax")
    return answer


def begun(guard: Guard, secret: str, length: timedelta, after: str) -> Response:
    """On to where they wanted to go, with the session in their cookie."""
    answer = RedirectResponse(local(after), HTTPStatus.SEE_OTHER)
    answer.set_cookie(
        guard.cookie, secret, max_age=int(length.total_seconds()), path="/", secure=guard.secure, httponly=True,
        samesite="lax",  # strict would sign people out who come by the link in Slack
    )  # fmt: skip
    return answer


def _oidc(request: Request) -> bool:
    return request.app.state.application.settings.web.oidc.issuer is not None
