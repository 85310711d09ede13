"""Who may send: the holders of tokens with the permission, or this machine as long as there is no token at all."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from threading import Lock

from monitor.core.errors import Retriable
from monitor.store.tokens import Access, Token, digest
from monitor.web.base.access import Permission, Role
from monitor.web.collect.refusal import Refused

_FRESH = 3.0  # seconds for which tokens are remembered, so that a request costs no look at the database
_PATIENT = 0.5  # seconds after which an unknown token is looked for again: it may have just been made


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who sends: the id of a token, or nobody in particular. What it sends belongs to `app`, if there is one."""

    id: str = ""
    app: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The tokens as of `at` (seconds of a clock that never goes back); `problem` if they could not be read."""

    at: float
    closed: bool = True
    problem: Retriable | None = None


class Senders:
    """Finds out who sends. Remembers all valid tokens for three seconds. Safe to use from several threads.

    With `only_tokens` nobody sends without a token; otherwise this machine may until the first token is made.
    """

    def __init__(
        self,
        access: Access,
        now: Callable[[], datetime],
        *,
        only_tokens: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._access = access
        self._now = now
        self._only_tokens = only_tokens
        self._clock = clock
        self._tokens: dict[bytes, Token] = {}
        self._known: _Known | None = None
        self._lock = Lock()

    def remembered(self, secret: str | None) -> bool:
        """Whether `identify` answers without a look at the database."""
        known = self._known
        if known is None or self._clock() - known.at >= _FRESH:
            return False
        token = None if secret is None else self._tokens.get(digest(secret))
        return secret is None or (token is not None and not token.use_is_due(self._now()))

    def identify(self, secret: str | None, *, from_here: bool) -> Sender:
        """The sender with this token; `from_here`: the request names this machine as the one that it goes to.

        Raises:
            Refused: it may not send (401, 403).
            Retriable: the database is out of reach.
        """
        known = self._refreshed(_FRESH)
        if secret is None:
            if self._only_tokens or known.closed:
                raise Refused(
                    HTTPStatus.UNAUTHORIZED,
                    "send an access token as `Authorization: Bearer …`; make one: "
                    "`monitor tokens create NAME --role collect --app APP`",
                )
            if not from_here:
                raise Refused(
                    HTTPStatus.FORBIDDEN,
                    "without access tokens only 127.0.0.1 may send; make one: "
                    "`monitor tokens create NAME --role collect --app APP`",
                )
            return Sender()
        of_secret = digest(secret)
        if of_secret not in self._tokens:
            self._refreshed(_PATIENT)
        token = self._tokens.get(of_secret)
        if token is None or not token.holds(self._now()):
            raise Refused(HTTPStatus.UNAUTHORIZED, "this access token is wrong, revoked or expired")
        if not Role(token.role).may(Permission.COLLECT):
            raise Refused(
                HTTPStatus.FORBIDDEN,
                f"the role {token.role} may not send; make a token that may: "
                "`monitor tokens create NAME --role collect --app APP`",
            )
        if token.use_is_due(self._now()):
            self._tokens[of_secret] = self._access.record_use(token, self._now())
        return Sender(id=token.id, app=token.app)

    def _refreshed(self, age: float) -> _Known:
        """The tokens, read again if what is known of them is older than `age` seconds; one thread reads at a time.

        That the database is out of reach is remembered like tokens, so that requests do not queue up for it.
        """
        with self._lock:
            known = self._known
            if known is None or self._clock() - known.at >= (_PATIENT if known.problem else age):
                try:
                    self._tokens = self._access.valid(self._now())
                    known = _Known(at=self._clock(), closed=bool(self._tokens) or self._access.closed())
                except Retriable as problem:
                    known = _Known(at=self._clock(), problem=problem)
                self._known = known
        if known.problem is not None:
            raise Retriable(str(known.problem))
        return known
