"""Access tokens and sessions. Secrets are random and stored as SHA-256 only: reading the tables opens nothing."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, Engine, delete, exists, insert, or_, select, update

from monitor.core.errors import WrongSettings
from monitor.store.audit_queue import Act, Kind, queue_act
from monitor.store.database import retriable
from monitor.store.tables.audit import api_token, web_session

PREFIX = "mon_"  # by which people and scanners for leaked secrets recognise a token
_BYTES = 32
_USE_INTERVAL = timedelta(minutes=1)  # the last use is stored this often at most
_t, _s = api_token.c, web_session.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as people see it; the secret is shown only once, when the token is made."""

    id: str
    name: str
    role: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    used_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None
    app: str | None = None  # what is sent with it belongs to this app

    def holds(self, now: datetime) -> bool:
        """Whether the token is valid now."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def use_is_due(self, now: datetime) -> bool:
        """Whether the stored time of the last use is so old that a use is to be recorded."""
        return self.used_at is None or now - self.used_at >= _USE_INTERVAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A signed-in person; `subject` is the name that the audit trail records."""

    subject: str
    role: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A session that no token began, by the sign-in of a provider or by a link."""

    subject: str
    role: str
    since: datetime
    until: datetime


class Access:
    """Safe to use from several threads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine, *, random: Callable[[int], str] = secrets.token_urlsafe) -> None:
        self._engine = engine
        self._random = random

    def make_token(
        self,
        name: str,
        role: str,
        *,
        by: str,
        now: datetime,
        expires_at: datetime | None = None,
        app: str | None = None,
    ) -> tuple[Token, str]:
        """Makes a token, and returns it with its secret, which is not stored.

        Raises:
            WrongSettings: a valid token has this name already.
        """
        secret = PREFIX + self._random(_BYTES)
        of_secret = digest(secret)
        values = {
            "id": of_secret.hex()[:12],
            "name": name,
            "role": role,
            "created_at": now,
            "created_by": by,
            "expires_at": expires_at,
            "app": app,
        }
        record = {"done": "made", "name": name, "role": role} | ({} if app is None else {"app": app})
        with retriable(), self._engine.begin() as connection:
            same = select(api_token).where(_t.name == name, _t.revoked_at.is_(None))
            if any(_token(row).holds(now) for row in connection.execute(same)):
                raise WrongSettings(f"there is a token {name!r} already; revoke it first, or choose another name")
            row = connection.execute(insert(api_token).values(digest=of_secret, **values).returning(*api_token.c)).one()
            _record(connection, row.id, by, now, record)
        return _token(row), secret

    def tokens(self) -> list[Token]:
        """All tokens, newest first."""
        with retriable(), self._engine.connect() as connection:
            return [_token(row) for row in connection.execute(select(api_token).order_by(_t.created_at.desc(), _t.id))]

    def valid(self, now: datetime) -> dict[bytes, Token]:
        """All valid tokens by the digests of their secrets, see `digest`."""
        with retriable(), self._engine.connect() as connection:
            rows = connection.execute(select(api_token).where(_t.revoked_at.is_(None))).all()
        tokens = {row.digest: _token(row) for row in rows}
        return {of_secret: token for of_secret, token in tokens.items() if token.holds(now)}

    def closed(self) -> bool:
        """Whether a token was ever made: then nobody gets in without one, even when all tokens have expired."""
        with retriable(), self._engine.connect() as connection:
            return bool(connection.scalar(select(exists().select_from(api_token))))

    def revoke(self, token_id: str, *, by: str, now: datetime) -> bool:
        """Ends a token and the sessions begun with it; False if there is none of that id, or it was revoked before."""
        with retriable(), self._engine.begin() as connection:
            ended = update(api_token).where(_t.id == token_id, _t.revoked_at.is_(None))
            row = connection.execute(ended.values(revoked_at=now, revoked_by=by).returning(_t.name)).one_or_none()
            if row is None:
                return False
            connection.execute(delete(web_session).where(_s.token_id == token_id))
            _record(connection, token_id, by, now, {"done": "revoked", "name": row.name})
        return True

    def holder(self, secret: str, now: datetime) -> Token | None:
        """The valid token with this secret, if there is one; records its use."""
        with retriable(), self._engine.begin() as connection:
            row = connection.execute(select(api_token).where(_t.digest == digest(secret))).one_or_none()
            if row is None or not (token := _token(row)).holds(now):
                return None
            if token.use_is_due(now):
                connection.execute(update(api_token).where(_t.id == token.id).values(used_at=now))
        return token

    def record_use(self, token: Token, now: datetime) -> Token:
        """Stores that the token is used now, and returns it with this time."""
        with retriable(), self._engine.begin() as connection:
            connection.execute(update(api_token).where(_t.id == token.id).values(used_at=now))
        return replace(token, used_at=now)

    def begin_session(self, session: Session, *, now: datetime, length: timedelta, token_id: str | None = None) -> str:
        """Signs a person in and returns the secret for the cookie. Removes sessions that have ended."""
        secret = self._random(_BYTES)
        values = {
            "digest": digest(secret),
            "subject": session.subject,
            "role": session.role,
            "token_id": token_id,
            "created_at": now,
            "expires_at": now + length,
        }
        with retriable(), self._engine.begin() as connection:
            connection.execute(delete(web_session).where(_s.expires_at <= now))
            connection.execute(insert(web_session).values(**values))
        return secret

    def session(self, secret: str, now: datetime) -> Session | None:
        """The valid session with this secret, if there is one; a session ends with the token it was begun with."""
        query = (
            select(_s.subject, _s.role)
            .outerjoin(api_token, _t.id == _s.token_id)
            .where(_s.digest == digest(secret), _s.expires_at > now)
            .where(_t.revoked_at.is_(None), or_(_t.expires_at.is_(None), _t.expires_at > now))
        )
        with retriable(), self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else Session(subject=row.subject, role=row.role)

    def signed_in(self, now: datetime) -> list[SignedIn]:
        """The sessions that no token began, by name, then by time."""
        query = select(_s.subject, _s.role, _s.created_at, _s.expires_at).where(
            _s.token_id.is_(None), _s.expires_at > now
        )
        with retriable(), self._engine.connect() as connection:
            rows = connection.execute(query.order_by(_s.subject, _s.created_at)).all()
        return [SignedIn(subject=name, role=role, since=since, until=until) for name, role, since, until in rows]

    def end_session(self, secret: str) -> None:
        with retriable(), self._engine.begin() as connection:
            connection.execute(delete(web_session).where(_s.digest == digest(secret)))

    def end_sessions(self, subject: str, *, by: str, now: datetime) -> int:
        """Ends all sessions of a person; returns how many there were."""
        with retriable(), self._engine.begin() as connection:
            ended = connection.execute(delete(web_session).where(_s.subject == subject, _s.expires_at > now)).rowcount
            if ended:
                _record(connection, subject, by, now, {"done": "signed out"})
        return ended


def _record(connection: Connection, token_id: str, by: str, now: datetime, body: dict[str, str]) -> None:
    queue_act(connection, Act(kind=Kind.TOKEN, by=by, at=now, subject=token_id, body={**body}))


def digest(secret: str) -> bytes:
    """What is stored of a secret."""
    return hashlib.sha256(secret.encode(errors="replace")).digest()


def _token(row: object) -> Token:
    return Token(**{name: getattr(row, name) for name in Token.__slots__})
