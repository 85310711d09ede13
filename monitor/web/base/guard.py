"""Who is asking, and whether they may: a token in the `Authorization` header, or a session in a cookie.

Where no token was ever made and no OIDC is configured, the dashboard is open to this machine's own user. Then requests
must name this machine as their host, so that no page on the web reaches it by a name of its own (DNS rebinding), and
must not have come through a proxy. Once there was a token it stays shut: one that expires opens nothing.
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
from monitor.web.base.access import Identity, Permission, Role
from monitor.web.base.limit import RateLimit

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_SIGN_INS, SIGN_IN_WINDOW = 10, timedelta(minutes=1)  # attempts to sign in from one address
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_OF_OURS = frozenset({"same-origin", "none"})  # `none`: typed into the address bar


class NotSignedIn(Exception):
    """Nobody is signed in, and the page is not for everybody."""


class Forbidden(Exception):
    """What was asked is not for whom asks; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Looks requests over. `only_tokens`: this machine's user has to sign in too; `public`: where people come to.

    `key` is this process's own; what several replicas have to agree on does not hang on it.
    """

    access: Access
    now: Callable[[], datetime]
    public: str = ""
    only_tokens: bool = False
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    sign_in_limit: RateLimit = field(default_factory=lambda: RateLimit(most=MAX_SIGN_INS, window=SIGN_IN_WINDOW))

    @property
    def secure(self) -> bool:
        """Whether people come by https."""
        return self.public.startswith("https://")

    @property
    def cookie(self) -> str:
        """The name of the session's; the prefix has browsers refuse it from anywhere else."""
        return "__Host-monitor" if self.secure else "monitor_session"

    def identify(self, request: HTTPConnection) -> Identity | None:
        """Who asks, None where they have to sign in.

        Raises:
            NotSignedIn: a token was shown that opens nothing.
            Forbidden: an open dashboard is reached from elsewhere.
            Retriable: the database is out of reach.
        """
        now = self.now()
        if (shown := bearer(request)) is not None:
            token = self.access.holder(shown, now)
            if token is None:
                raise NotSignedIn("this token opens nothing: it is wrong, revoked or expired")
            return Identity(name=f"token:{token.name}", role=Role(token.role))
        if cookie := request.cookies.get(self.cookie):
            session = self.access.session(cookie, now)
            if session is not None:
                return Identity(
                    name=session.subject, role=Role(session.role), csrf=_derived(cookie.encode(errors="replace"))
                )
        if self.only_tokens or self.access.closed():
            return None
        if _host(request) not in LOOPBACK or any(name in request.headers for name in _FORWARDED):
            raise Forbidden("without tokens this dashboard answers on 127.0.0.1 only: `monitor tokens create NAME`")
        return Identity(name="local", role=Role.ADMIN, csrf=_derived(self.key))

    def own(self, origin: str, host: str | None) -> bool:
        """Whether a page of that origin is ours, asked as `host` or as people reach it."""
        known = urlsplit(self.public)
        return urlsplit(origin).netloc == host or origin == f"{known.scheme}://{known.netloc}"


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


def bearer(request: HTTPConnection) -> str | None:
    """The token that a request shows; other schemes, as of a proxy in front, are none of our business."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else None


def same_site(request: Request) -> None:
    """Raises `Forbidden` where a browser says that a page of somebody else made the request."""
    guard: Guard = request.app.state.guard
    origin = request.headers.get("origin")
    foreign = origin is not None and not guard.own(origin, request.headers.get("host"))
    if foreign or request.headers.get("sec-fetch-site", "same-origin") not in _OF_OURS:
        raise Forbidden("this came from a page of another site")


async def storable_texts(request: Request) -> None:
    """Raises 400 where an address or a form has a NUL in it: no stored text has, and Postgres takes none."""
    texts = [request.scope["path"], *chain.from_iterable(request.query_params.multi_items())]
    if request.method not in SAFE and request.headers.get("content-type", "").startswith(_FORMS):
        texts += [value for _, value in (await request.form()).multi_items() if isinstance(value, str)]
    if any("\0" in text for text in texts):
        raise HTTPException(HTTPStatus.BAD_REQUEST, "there is a character in this that no stored text has: U+0000")


def meant(request: Request, who: Identity) -> None:
    """Raises `Forbidden` where a read that leaves a trace may have been set off by somebody else's page."""
    if who.csrf is not None and not _same(request.headers.get("x-csrf-token", ""), who.csrf):
        raise Forbidden("with a session this takes the header X-CSRF-Token, or a form of ours")


async def _from_here(request: Request, csrf: str) -> None:
    """Raises `Forbidden` unless a page of ours made the request."""
    same_site(request)
    shown: str = request.headers.get("x-csrf-token", "")
    if not shown:
        content = request.headers.get("content-type", "")
        if content.startswith(_FORMS):
            shown = str((await request.form()).get("csrf", ""))
    if not _same(shown, csrf):
        raise Forbidden("the page was open for too long, or is not ours: load it again")


def _same(shown: str, csrf: str) -> bool:
    return hmac.compare_digest(shown.encode(errors="replace"), csrf.encode())


def _derived(secret: bytes) -> str:
    """What the forms of one session carry: a page of another origin cannot know it, and it gives nothing away."""
    return hmac.new(secret, b"monitor: a form of this session", hashlib.sha256).hexdigest()


def _host(request: HTTPConnection) -> str | None:
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname
    except ValueError:  # brackets that hold no address
        return None
