"""Signing in with an organisation's own accounts: out to the provider, and back with a code."""

from __future__ import annotations

import hashlib
import hmac
import logging
from dataclasses import asdict

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from monitor.core.errors import Retriable, WrongSettings
from monitor.core.settings.load import Settings
from monitor.web.base.guard import Guard
from monitor.web.base.page import local
from monitor.web.signin.oidc import Begun, NotLetIn, Provider
from monitor.web.signin.signin import begun as session_begun
from monitor.web.signin.signin import form, tried
from monitor.web.signin.state_cookie import LIFETIME, read_state, sign_state

log = logging.getLogger(__name__)
PATH = "/signin/oidc"
CALLBACK = f"{PATH}/callback"
_LONGEST = 1_000  # characters of where they wanted to go: browsers drop cookies over 4 kB
_DOWN = "The provider does not answer now. Try again in a while, or use an access token."
_WRONG = "Sign-in by the provider is set up wrongly; the log says how. Use an access token meanwhile."
_AGAIN = "This sign-in was not begun here, or took too long. Try again."
router = APIRouter(include_in_schema=False)


def provider(settings: Settings, guard: Guard) -> Provider | None:
    """The configured one.

    Raises:
        WrongSettings: nobody could come back from it, as MONITOR_PUBLIC_URL is not set.
    """
    if settings.web.oidc.issuer is None:
        return None
    if not settings.public_url:
        raise WrongSettings(
            "MONITOR_WEB__OIDC__… needs MONITOR_PUBLIC_URL, where people reach this dashboard: the provider sends them "
            f"back to {CALLBACK} below it, and has to know that address as a redirect URI"
        )
    return Provider(settings.web.oidc, f"{settings.public_url.rstrip('/')}{CALLBACK}", guard.now)


@router.get(PATH)
def leave(request: Request, next: str = "/") -> Response:  # noqa: A002  the name in the address
    """Sends somebody to the provider."""
    there: Provider | None = request.app.state.provider
    if there is None:
        return form(request, next, "Sign-in by an organisation is not set up here.", status=404)
    tried(request)
    guard: Guard = request.app.state.guard
    try:
        address, begun = there.begin()
    except (Retriable, WrongSettings) as error:
        return _failed(request, next, error)
    answer = RedirectResponse(address, 303)
    after = local(next) if len(next) <= _LONGEST else "/"
    answer.set_cookie(
        _cookie(guard), sign_state({**asdict(begun), "next": after}, _key(request), guard.now()),
        max_age=int(LIFETIME.total_seconds()), path="/", secure=guard.secure, httponly=True,
        samesite="lax",  # the provider sends them back from its own site
    )  # fmt: skip
    return answer


@router.get(CALLBACK)
def come_back(request: Request, code: str = "", state: str = "", error: str = "") -> Response:
    """A session for whom the provider vouches for."""
    there: Provider | None = request.app.state.provider
    guard: Guard = request.app.state.guard
    kept = read_state(request.cookies.get(_cookie(guard), ""), _key(request), guard.now())
    if there is None or kept is None:
        return form(request, "/", _AGAIN, status=403)
    after = kept["next"]
    begun = Begun(state=kept["state"], nonce=kept["nonce"], verifier=kept["verifier"])
    if not hmac.compare_digest(state.encode(errors="replace"), begun.state.encode()):
        return _forgotten(form(request, after, _AGAIN, status=403), guard)
    if error or not code:
        log.warning("sign-in: the provider answered with the error %s", ascii(error)[:200])
        said = "The provider did not let you in, or you declined. Try again."
        return _forgotten(form(request, after, said, status=403), guard)
    try:
        session = there.finish(code, begun)
    except NotLetIn as refused:
        return _forgotten(form(request, after, str(refused), status=403), guard)
    except (Retriable, WrongSettings) as failed:
        return _forgotten(_failed(request, after, failed), guard)
    return _forgotten(session_begun(request, session, after), guard)


def _failed(request: Request, after: str, error: Exception) -> Response:
    log.warning("sign-in: %s", error)
    return form(request, after, _DOWN if isinstance(error, Retriable) else _WRONG, status=503)


def _cookie(guard: Guard) -> str:
    return "__Host-monitor-leaving" if guard.secure else "monitor_leaving"


def _key(request: Request) -> bytes:
    """The same for all replicas, where there is something that they share."""
    guard: Guard = request.app.state.guard
    secret = request.app.state.application.settings.web.oidc.client_secret
    return guard.key if secret is None else hashlib.sha256(secret.get_secret_value().encode()).digest()


def _forgotten(answer: Response, guard: Guard) -> Response:
    """A sign-in is tried once, whatever came of it."""
    answer.delete_cookie(_cookie(guard), path="/", secure=guard.secure, httponly=True, samesite="lax")
    return answer
