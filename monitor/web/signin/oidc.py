"""Sign-in by OpenID Connect: the authorization code flow with PKCE, and what makes an ID token good.

Sources: OpenID Connect Core 1.0 §3.1 and Discovery 1.0 §4; RFC 7636 (PKCE); RFC 8725 (the algorithm is ours to choose).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import ssl
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from monitor.core.errors import MonitorError, Retriable, WrongSettings
from monitor.core.settings.web import OidcSettings
from monitor.store.tokens import Session
from monitor.web.base.access import Role

log = logging.getLogger(__name__)
ALGORITHMS = ("RS256", "ES256", "Ed25519", "EdDSA")  # the last one is what RFC 9864 calls the one before it
_TIMEOUT = 10.0  # seconds
_LARGEST_ANSWER = 2**20
_FRESH = timedelta(hours=1)  # how long the provider's document and keys are believed
_BETWEEN_KEYS = timedelta(seconds=30)  # a token of an unknown key has them fetched again, no more often than that
_LEEWAY = 60  # seconds by which clocks may differ
_LONGEST_NAME = 200
_HIGHEST_FIRST = (Role.ADMIN, Role.AUDITOR, Role.OPERATOR, Role.VIEWER)


class NotLetIn(MonitorError):
    """The provider's answer opens nothing; the message is for the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What has to be remembered between leaving for the provider and coming back."""

    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """What the provider says of itself."""

    issuer: str
    authorization: str
    token: str
    keys: str
    by_post: bool  # the secret goes into the form, since the provider takes no Basic


class Provider:
    """One provider, as the settings name it. Safe to use from several threads; asks it only when somebody signs in."""

    def __init__(
        self,
        settings: OidcSettings,
        redirect_uri: str,
        now: Callable[[], datetime],
        *,
        random: Callable[[int], str] = secrets.token_urlsafe,
    ) -> None:
        self._settings = settings
        self._redirect_uri = redirect_uri
        self._now = now
        self._random = random
        self._lock = Lock()
        self._tls = ssl.create_default_context()
        self._document: tuple[datetime, _Document] | None = None
        self._keys: tuple[datetime, KeySet] | None = None

    def begin(self) -> tuple[str, Begun]:
        """Where to send somebody, and what to remember of it.

        Raises:
            Retriable, WrongSettings: the provider is down, or not what the settings say.
        """
        begun = Begun(state=self._random(32), nonce=self._random(32), verifier=self._random(48))
        challenge = urlsafe_b64encode(hashlib.sha256(begun.verifier.encode()).digest()).rstrip(b"=").decode()
        at = self._discovered().authorization
        asked = {
            "response_type": "code", "client_id": self._settings.client_id, "redirect_uri": self._redirect_uri,
            "scope": " ".join(dict.fromkeys(("openid", *self._settings.scopes))), "state": begun.state,
            "nonce": begun.nonce, "code_challenge": challenge, "code_challenge_method": "S256",
        }  # fmt: skip
        return f"{at}{'&' if urlsplit(at).query else '?'}{urlencode(asked)}", begun

    def finish(self, code: str, begun: Begun) -> Session:
        """Who came back with `code`.

        Raises:
            NotLetIn: the code or the token is not good, or nothing of what the token says makes a role.
            Retriable, WrongSettings: as `begin` does.
        """
        document = self._discovered()
        token = self._exchanged(document, code, begun.verifier)
        claims = self._checked(document, token, begun.nonce)
        role = role_of(claims, self._settings)
        if role is None:
            raise NotLetIn("You are signed in there, but nobody has given you a role here: ask an administrator.")
        return Session(subject=f"oidc:{_name(claims)}", role=role)

    def _exchanged(self, document: _Document, code: str, verifier: str) -> str:
        settings = self._settings
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": self._redirect_uri,
            "code_verifier": verifier,
        }  # fmt: skip
        secret = settings.client_secret.get_secret_value() if settings.client_secret else None
        basic = None
        if secret is None or document.by_post:
            form |= {"client_id": settings.client_id or ""} | ({} if secret is None else {"client_secret": secret})
        else:  # RFC 6749 §2.3.1: both are written as in a form first
            basic = httpx2.BasicAuth(quote(settings.client_id or "", safe=""), quote(secret, safe=""))
        status, answer = self._asked(document.token, form, basic)
        token = answer.get("id_token")
        if status != httpx2.codes.OK or not isinstance(token, str):
            log.warning(
                "sign-in: %s refused the code: HTTP %d, %s", document.token, status, _short(answer.get("error"))
            )
            raise NotLetIn("The provider did not accept this sign-in: it took too long, or was used before. Try again.")
        return token

    def _checked(self, document: _Document, token: str, nonce: str) -> Mapping[str, Any]:
        """The claims of a token that is genuine, fresh and meant for us."""
        ours = self._settings.client_id or ""
        rules = jwt.JWTClaimsRegistry(
            now=int(self._now().timestamp()),
            leeway=_LEEWAY,
            iss={"essential": True, "value": document.issuer},
            sub={"essential": True},
            aud={"essential": True, "value": ours},
            exp={"essential": True},
            iat={"essential": True},
        )
        try:
            claims = self._verified(document, token).claims
            rules.validate(claims)
        except (JoseError, ValueError, TypeError, KeyError) as error:  # the library lets some of these through
            raise _bad(f"{type(error).__name__}: {error}") from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else ours) != ours:
            raise _bad("it was made for another client (azp)")
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(errors="replace"), nonce.encode()):
            raise _bad("its nonce is not the one of this sign-in")
        return claims

    def _verified(self, document: _Document, token: str) -> jwt.Token:
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        try:
            return jwt.decode(token, self._key_set(document), ALGORITHMS, registry)
        except InvalidKeyIdError:  # the provider has changed its keys, perhaps
            return jwt.decode(token, self._key_set(document, older_than=_BETWEEN_KEYS), ALGORITHMS, registry)

    def _discovered(self) -> _Document:
        with self._lock:
            if self._document is None or self._now() - self._document[0] >= _FRESH:
                at = f"{(self._settings.issuer or '').rstrip('/')}/.well-known/openid-configuration"
                status, said = self._asked(at)
                if status != httpx2.codes.OK:
                    raise WrongSettings(f"MONITOR_WEB__OIDC__ISSUER: HTTP {status} from {at}")
                self._document = self._now(), _document(self._settings.issuer or "", said)
            return self._document[1]

    def _key_set(self, document: _Document, *, older_than: timedelta = _FRESH) -> KeySet:
        with self._lock:
            if self._keys is None or self._now() - self._keys[0] >= older_than:
                status, said = self._asked(document.keys)
                try:
                    keys = KeySet.import_key_set(said)  # type: ignore[arg-type] # it says what is wrong with them
                except (JoseError, ValueError, TypeError, KeyError, AttributeError):
                    raise Retriable(f"{document.keys} holds no keys that can be read: HTTP {status}") from None
                self._keys = self._now(), keys
            return self._keys[1]

    def _asked(
        self, url: str, form: Mapping[str, str] | None = None, auth: httpx2.BasicAuth | None = None
    ) -> tuple[int, Mapping[str, Any]]:
        """Status and JSON object of the answer; an answer that is none counts as empty."""
        content = bytearray()
        try:
            with (
                httpx2.Client(timeout=_TIMEOUT, verify=self._tls, follow_redirects=False) as client,
                client.stream(
                    "GET" if form is None else "POST", url, data=form, auth=auth, headers={"Accept": "application/json"}
                ) as response,
            ):
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _LARGEST_ANSWER:
                        break
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            raise Retriable(f"{urlsplit(url).netloc} does not answer: {type(error).__name__}") from None
        if response.status_code >= httpx2.codes.INTERNAL_SERVER_ERROR:
            raise Retriable(f"{urlsplit(url).netloc} answers with HTTP {response.status_code}")
        try:
            said = json.loads(content)
        except ValueError:
            said = None
        return response.status_code, said if isinstance(said, dict) else {}


def role_of(claims: Mapping[str, Any], settings: OidcSettings) -> Role | None:
    """The highest role that a value of the configured claim makes; its name may lead inwards, `realm_access.roles`.

    An e-mail address makes one only where the provider says that it is theirs: some let people type any.
    """
    held: Any = claims
    for name in (settings.role_claim,) if settings.role_claim in claims else settings.role_claim.split("."):
        held = held.get(name) if isinstance(held, Mapping) else None
    values = {its for its in (held if isinstance(held, list) else [held]) if isinstance(its, str)}
    if settings.role_claim == "email" and claims.get("email_verified") is not True:
        values = set()
    wanted = {
        Role.ADMIN: settings.admins, Role.AUDITOR: settings.auditors, Role.OPERATOR: settings.operators,
        Role.VIEWER: settings.viewers,
    }  # fmt: skip
    return next((role for role in _HIGHEST_FIRST if "*" in wanted[role] or values & set(wanted[role])), None)


def _name(claims: Mapping[str, Any]) -> str:
    """As the audit trail keeps it: an address, unless the provider says that it is not known to be theirs."""
    email = claims.get("email")
    good = isinstance(email, str) and email and email.isprintable() and claims.get("email_verified", True) is True
    return str(email if good else claims["sub"])[:_LONGEST_NAME]


def _document(issuer: str, said: Mapping[str, Any]) -> _Document:
    """Checks that the provider is the one of the settings, and that it is asked over connections as safe as that."""
    if not isinstance(said.get("issuer"), str) or said["issuer"].rstrip("/") != issuer.rstrip("/"):
        raise WrongSettings(
            f"MONITOR_WEB__OIDC__ISSUER={issuer}: the provider calls itself {_short(said.get('issuer'))}"
        )
    addresses = [said.get(name) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
    safe = "https://" if issuer.startswith("https://") else ("https://", "http://")
    if not all(isinstance(address, str) and address.startswith(safe) for address in addresses):
        raise WrongSettings(f"MONITOR_WEB__OIDC__ISSUER={issuer}: the provider's document names no safe addresses")
    authorization, token, keys = map(str, addresses)
    methods: Sequence[object] = said.get("token_endpoint_auth_methods_supported") or ("client_secret_basic",)
    by_post = "client_secret_basic" not in methods and "client_secret_post" in methods
    return _Document(
        issuer=said["issuer"], authorization=authorization, token=token, keys=keys, by_post=by_post
    )  # fmt: skip


def _bad(why: str) -> NotLetIn:
    log.warning("sign-in: the provider's ID token was refused: %s", why)
    return NotLetIn("The provider's answer could not be believed. Try again; the log says more.")


def _short(said: object) -> str:
    """Foreign words for the log."""
    return ascii(said)[:200]
