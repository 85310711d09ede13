"""Signs people in with their organisation's accounts: redirects to the OIDC provider, and takes the code it returns."""

from __future__ import annotations

import hashlib
import hmac
import logging
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from monitor.core.errors import Retriable, WrongSettings
from monitor.core.settings.load import Settings
from monitor.core.settings.web import OIDC_CALLBACK
from monitor.web.base.guard import Guard
from monitor.web.base.page import local_path
from monitor.web.signin.signin import (
    LONGEST_AWAY,
    Destination,
    SignInRefused,
    begin_session,
    count_attempt,
    sign_in_form,
)

if TYPE_CHECKING:
    from monitor.web.signin.oidc import Provider

log = logging.getLogger(__name__)
PATH = "/signin/oidc"
_MAX_DESTINATION = 1_000  # bytes; browsers drop cookies over 4 kB
_PROVIDER_DOWN = "The sign-in provider does not answer. Try again in a minute, or use an access token."
_WRONG_SETUP = "Sign-in with the provider is set up wrongly; the log has the details. Use an access token meanwhile."
_NOT_STARTED_HERE = "This sign-in was not started in this browser, or took too long. Try again."
router = APIRouter(include_in_schema=False)


def provider(settings: Settings, guard: Guard) -> Provider | None:
    """The configured provider; None without one.

    Raises:
        WrongSettings: MONITOR_PUBLIC_URL is not set, or the package that checks tokens of the provider is missing.
    """
    redirect_uri = settings.web.oidc.redirect_uri(settings.public_url)
    if redirect_uri is None:
        return None
    from monitor.web.signin.oidc import Provider  # noqa: PLC0415  its package comes with an extra

    secret = settings.web.oidc.client_secret  # all replicas have it
    key = guard.key if secret is None else hashlib.sha256(secret.get_secret_value().encode()).digest()
    return Provider(settings.web.oidc, redirect_uri, guard.now, cookie_key=key)


@router.get(PATH)
def redirect_to_provider(request: Request, destination: Destination = "/") -> Response:
    oidc: Provider | None = request.app.state.provider
    if oidc is None:
        return sign_in_form(request, destination, "Sign-in with an organisation is not set up here.", status=404)
    count_attempt(request)
    guard: Guard = request.app.state.guard
    path = local_path(destination)
    try:
        address, cookie = oidc.begin(path if len(path.encode()) <= _MAX_DESTINATION else "/")
    except (Retriable, WrongSettings) as error:
        return _failed(request, destination, error)
    response = RedirectResponse(address, 303)
    response.set_cookie(
        _cookie(guard),
        cookie,
        max_age=int(LONGEST_AWAY.total_seconds()),
        path="/",
        secure=guard.secure,
        httponly=True,
        samesite="lax",  # the provider redirects back from its own site
    )
    return response


@router.get(OIDC_CALLBACK)
def return_from_provider(request: Request, code: str = "", state: str = "", error: str = "") -> Response:
    """Begins a session for a person whom the provider has identified."""
    count_attempt(request)
    oidc: Provider | None = request.app.state.provider
    guard: Guard = request.app.state.guard
    begun = None if oidc is None else oidc.begun(request.cookies.get(_cookie(guard), ""))
    if oidc is None or begun is None:
        return sign_in_form(request, "/", _NOT_STARTED_HERE, status=403)
    destination = begun.after
    if not hmac.compare_digest(state.encode(errors="replace"), begun.state.encode()):
        return _without_state(sign_in_form(request, destination, _NOT_STARTED_HERE, status=403), guard)
    if error or not code:
        log.warning("sign-in: the provider answered with the error %s", ascii(error)[:200])
        problem = "The provider did not let you in, or you declined. Try again."
        return _without_state(sign_in_form(request, destination, problem, status=403), guard)
    try:
        session = oidc.finish(code, begun)
    except SignInRefused as refused:
        return _without_state(sign_in_form(request, destination, str(refused), status=403), guard)
    except (Retriable, WrongSettings) as failed:
        return _without_state(_failed(request, destination, failed), guard)
    return _without_state(begin_session(request, session, destination), guard)


def _failed(request: Request, destination: str, error: Exception) -> Response:
    log.warning("sign-in: %s", error)
    problem = _PROVIDER_DOWN if isinstance(error, Retriable) else _WRONG_SETUP
    return sign_in_form(request, destination, problem, status=503)


def _cookie(guard: Guard) -> str:
    return "__Host-monitor-leaving" if guard.secure else "monitor_leaving"


def _without_state(response: Response, guard: Guard) -> Response:
    """Deletes the state cookie: each sign-in gets one attempt, whatever comes of it."""
    response.delete_cookie(_cookie(guard), path="/", secure=guard.secure, httponly=True, samesite="lax")
    return response
