"""Who is asking, and whether they may: a token in the `Authorization` header, or a session in a cookie.

Where no token exists and no OIDC is configured, the dashboard is open to this machine's own user. Then requests must
name this machine as their host, so that no page on the web reaches it by a name of its own (DNS rebinding), and must
not have come through a proxy.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from monitor.store.access import Access
from monitor.web.access import Identity, Permission, Role

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


class NotSignedIn(Exception):
    """Nobody is signed in, and the page is not for everybody."""


class Forbidden(Exception):
    """What was asked is not for whom asks; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Looks requests over. `only_tokens`: this machine's user has to sign in too; `secure`: people come by https."""

    access: Access
    now: Callable[[], datetime]
    secure: bool = False
    only_tokens: bool = False
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def cookie(self) -> str:
        """The name of the session's; the prefix has browsers refuse it from anywhere else."""
        return "__Host-monitor" if self.secure else "monitor_session"

    def identify(self, request: HTTPConnection) -> Identity | None:
        """Who asks, None where they have to sign in.

        Raises:
            Forbidden: a token was shown that opens nothing, or an open dashboard is reached from elsewhere.
            Retriable: the database is out of reach.
        """
        now = self.now()
        if authorization := request.headers.get("authorization"):
            scheme, _, secret = authorization.partition(" ")
            token = self.access.holder(secret.strip(), now) if scheme.lower() == "bearer" else None
            if token is None:
                raise NotSignedIn("this token opens nothing: it is wrong, revoked or expired")
            return Identity(name=f"token:{token.name}", role=Role(token.role))
        if cookie := request.cookies.get(self.cookie):
            session = self.access.session(cookie, now)
            if session is not None:
                return Identity(name=session.subject, role=Role(session.role), csrf=self.csrf(cookie))
        if self.only_tokens or self.access.any_token(now):
            return None
        host = urlsplit(f"//{request.headers.get('host', '')}").hostname
        if host not in LOOPBACK or any(name in request.headers for name in _FORWARDED):
            raise Forbidden("without tokens this dashboard answers on 127.0.0.1 only: `monitor tokens create NAME`")
        return Identity(name="local", role=Role.ADMIN, csrf=self.csrf("local"))

    def csrf(self, secret: str) -> str:
        """What the forms of one session carry; a page of another origin cannot know it."""
        return hmac.new(self.key, secret.encode(errors="replace"), hashlib.sha256).hexdigest()


@dataclass(frozen=True, slots=True)
class Needs:
    """The dependency of every route that is not for everybody: the `Identity` that asks, which has `permission`."""

    permission: Permission

    async def __call__(self, request: Request) -> Identity:
        """Who asks.

        Raises:
            NotSignedIn, Forbidden: they may not.
        """
        guard: Guard = request.app.state.guard
        identity = await run_in_threadpool(guard.identify, request)
        if identity is None:
            raise NotSignedIn("sign in first")
        if not identity.may(self.permission):
            raise Forbidden(f"a {identity.role} may not do this: it takes the permission to {self.permission}")
        if request.method not in SAFE and identity.csrf is not None:
            await _from_here(request, identity.csrf)
        return identity


async def _from_here(request: Request, csrf: str) -> None:
    """Raises `Forbidden` unless a page of ours made the request."""
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise Forbidden("this came from a page of another site")
    if request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}:
        raise Forbidden("this came from a page of another site")
    shown: str = request.headers.get("x-csrf-token", "")
    if not shown:
        content = request.headers.get("content-type", "")
        if content.startswith(("application/x-www-form-urlencoded", "multipart/form-data")):
            shown = str((await request.form()).get("csrf", ""))
    if not hmac.compare_digest(shown.encode(errors="replace"), csrf.encode()):
        raise Forbidden("the page was open for too long, or is not ours: load it again")
