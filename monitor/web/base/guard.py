"""Identifies the caller by a token in the `Authorization` header or a session cookie, and checks their permission.

Until a first token is made, and without OIDC, the user of this machine signs in by the link that the start has printed.
A connection from this machine proves nothing: a proxy here forwards those of everybody, and by default nothing in its
requests tells. Requests must then also name this machine as their host, so that no web page reaches the dashboard under
a name of its own (DNS rebinding). After the first token it stays closed, even when all tokens have expired.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from itertools import chain
from urllib.parse import urlsplit

from fastapi import HTTPException, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from monitor.store.tokens import Access
from monitor.web.base.access import LOCAL, Identity, Permission, Role
from monitor.web.base.limit import RateLimit
from monitor.web.base.once import OneTimeSecret

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_SIGN_INS, SIGN_IN_WINDOW = 10, timedelta(minutes=1)  # attempts to sign in from one address
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_OWN_FETCH_SITES = frozenset({"same-origin", "none"})  # `none`: typed into the address bar


class NotSignedIn(Exception):
    """The page needs a user, and the request names none."""


class Forbidden(Exception):
    """The caller may not do this; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Identifies who makes a request.

    `public` is the address under which people reach the dashboard; with `only_tokens` this machine's user needs a token
    too. `link` is the secret of the link that signs that user in otherwise. `key` and `link` belong to this process;
    nothing that several replicas must agree on depends on them.
    """

    access: Access
    now: Callable[[], datetime]
    public: str = ""
    only_tokens: bool = False
    link: OneTimeSecret = field(default_factory=OneTimeSecret, repr=False)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    sign_in_limit: RateLimit = field(default_factory=lambda: RateLimit(most=MAX_SIGN_INS, window=SIGN_IN_WINDOW))

    @property
    def secure(self) -> bool:
        """Whether people reach the dashboard by https."""
        return self.public.startswith("https://")

    @property
    def cookie(self) -> str:
        """The name of the session cookie; with the prefix browsers refuse one that another host has set."""
        return "__Host-monitor" if self.secure else "monitor_session"

    def identify(self, request: HTTPConnection) -> Identity | None:
        """Who makes the request; None when they have to sign in.

        Raises:
            NotSignedIn: the token is wrong, revoked or expired.
            Forbidden: a dashboard without tokens is reached under a foreign name, or through a proxy that says so.
            Retriable: the database is out of reach.
        """
        now = self.now()
        if (secret := bearer(request)) is not None:
            token = self.access.holder(secret, now)
            if token is None:
                raise NotSignedIn("this access token is wrong, revoked or expired")
            return Identity(name=f"token:{token.name}", role=Role(token.role))
        cookie = request.cookies.get(self.cookie)
        session = None if cookie is None else self.access.session(cookie, now)
        if session is None or session.subject == LOCAL:
            if self.is_closed():
                return None
            require_this_machine(request)
        if cookie is None or session is None:
            return None
        csrf = _csrf_token(cookie.encode(errors="replace"))
        return Identity(name=session.subject, role=Role(session.role), csrf=csrf)

    def is_closed(self) -> bool:
        """Whether everybody needs a token or OIDC; otherwise the link opens the dashboard to this machine's user.

        Raises:
            Retriable: the database is out of reach.
        """
        return self.only_tokens or self.access.closed()

    def is_own_origin(self, origin: str, host: str | None) -> bool:
        """Whether `origin` is this dashboard, reached as `host` or under its public address."""
        known = urlsplit(self.public)
        try:
            return urlsplit(origin).netloc == host or origin == f"{known.scheme}://{known.netloc}"
        except ValueError:  # brackets without an address
            return False


@dataclass(frozen=True, slots=True)
class Needs:
    """The dependency of every protected route: gives the `Identity` that makes the request and has `permission`."""

    permission: Permission

    async def __call__(self, request: Request) -> Identity:
        """Who makes the request.

        Raises:
            NotSignedIn, Forbidden: the caller may not.
        """
        guard: Guard = request.app.state.guard
        identity = await run_in_threadpool(guard.identify, request)
        if identity is None:
            raise NotSignedIn("sign in first; a script needs an access token: `monitor tokens create NAME`")
        if not identity.may(self.permission):
            raise Forbidden(f"the role {identity.role} may not do this: it needs the permission to {self.permission}")
        if request.method not in SAFE_METHODS and identity.csrf is not None:
            await _require_own_page(request, identity.csrf)
        return identity


def require_this_machine(request: HTTPConnection) -> None:
    """Raises `Forbidden` when a request for a dashboard without tokens says that it comes from elsewhere."""
    if not names_this_machine(request):
        raise Forbidden(
            "without access tokens this dashboard answers on 127.0.0.1 only; make one: `monitor tokens create NAME`"
        )


def names_this_machine(request: HTTPConnection) -> bool:
    """Whether a request names this machine as its host, and no proxy says that it has forwarded it."""
    return _host(request) in LOOPBACK and not any(name in request.headers for name in _FORWARDED)


def bearer(request: HTTPConnection) -> str | None:
    """The bearer token of a request, see `secret_of`."""
    return secret_of(request.headers.get("authorization", ""))


def secret_of(authorization: str) -> str | None:
    """The bearer token in an `Authorization`; None for other schemes, which a proxy in front may use."""
    scheme, _, secret = authorization.partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else None


def require_same_site(request: Request) -> None:
    """Raises `Forbidden` when the browser says that a page of another site made the request."""
    guard: Guard = request.app.state.guard
    origin = request.headers.get("origin")
    foreign = origin is not None and not guard.is_own_origin(origin, request.headers.get("host"))
    if foreign or request.headers.get("sec-fetch-site", "same-origin") not in _OWN_FETCH_SITES:
        raise Forbidden("this request came from a page of another site")


async def reject_nul(request: Request) -> None:
    """Answers 400 when an address or a form contains U+0000, which Postgres cannot store."""
    texts = [request.scope["path"], *chain.from_iterable(request.query_params.multi_items())]
    if request.method not in SAFE_METHODS and request.headers.get("content-type", "").startswith(_FORMS):
        texts += [value for _, value in (await request.form()).multi_items() if isinstance(value, str)]
    if any("\0" in text for text in texts):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the request contains the character U+0000, which no text may have")


def require_csrf_header(request: Request, who: Identity) -> None:
    """Raises `Forbidden` when a foreign page may have caused a read that the audit trail records."""
    if who.csrf is not None and not _tokens_match(request.headers.get("x-csrf-token", ""), who.csrf):
        raise Forbidden("with a session this request needs the header X-CSRF-Token, or a form of this dashboard")


async def _require_own_page(request: Request, csrf: str) -> None:
    """Raises `Forbidden` unless a page of this dashboard made the request."""
    require_same_site(request)
    token: str = request.headers.get("x-csrf-token", "")
    if not token:
        content = request.headers.get("content-type", "")
        if content.startswith(_FORMS):
            token = str((await request.form()).get("csrf", ""))
    if not _tokens_match(token, csrf):
        raise Forbidden("the page was open for too long, or is not a page of this dashboard: load it again")


def _tokens_match(token: str, csrf: str) -> bool:
    return hmac.compare_digest(token.encode(errors="replace"), csrf.encode())


def _csrf_token(secret: bytes) -> str:
    """The token in the forms of one session; another origin cannot know it, and it does not reveal `secret`."""
    return hmac.new(secret, b"monitor: a form of this session", hashlib.sha256).hexdigest()


def _host(request: HTTPConnection) -> str | None:
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname
    except ValueError:  # brackets without an address
        return None
