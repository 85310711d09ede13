"""Sign-in by OpenID Connect: the authorization code flow with PKCE, and the checks of the ID token.

Sources: OpenID Connect Core 1.0 §3.1 and Discovery 1.0 §4; RFC 7636 (PKCE); RFC 8725 (we choose the algorithms).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import re
import secrets
import ssl
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import BoundedSemaphore, Lock, Timer
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2
from cachetools import TTLCache
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from monitor.core.errors import Retriable, WrongSettings
from monitor.core.settings.web import OidcSettings
from monitor.store.tokens import Session
from monitor.web.signin.discovery import Discovery, parse_discovery
from monitor.web.signin.role_claim import role_of
from monitor.web.signin.signin import LONGEST_AWAY, SignInRefused
from monitor.web.signin.state_cookie import SignInState, read_state, sign_state

log = logging.getLogger(__name__)
ALGORITHMS = ("RS256", "ES256", "Ed25519", "EdDSA")  # EdDSA is the name for Ed25519 before RFC 9864
_TIMEOUT = 5.0  # seconds that the provider may be silent
_DEADLINE = 10.0  # seconds after which an answer of the provider is cut off, however it arrives
_AT_ONCE = 8  # sign-ins that may wait for the provider; the threads of other pages stay free
_MAX_ANSWER = 2**20  # bytes
_MAX_AGE = timedelta(hours=1)  # of the cached discovery document and keys
_KEY_REFETCH = timedelta(seconds=30)  # a token with an unknown key has the keys fetched again, at most this often
_MAX_SPENT = 100_000  # finished sign-ins that are remembered; a state is good for ten minutes
_LEEWAY = 60  # seconds by which clocks may differ
_MAX_NAME = 200  # characters of an address or a user name; a longer one is not used
_MAX_SUB = 255  # characters, OpenID Connect Core 1.0 §2; cut off, it could be another's


class Provider:
    """The provider of the settings. Safe to use from several threads; contacts it only when somebody signs in.

    `cookie_key` signs what the browser keeps until the return: replicas that share it can each take a return.
    """

    def __init__(
        self,
        settings: OidcSettings,
        redirect_uri: str,
        now: Callable[[], datetime],
        *,
        cookie_key: bytes,
        random: Callable[[int], str] = secrets.token_urlsafe,
        deadline: float = _DEADLINE,
    ) -> None:
        self._settings = settings
        self._redirect_uri = redirect_uri
        self._now = now
        self._cookie_key = cookie_key
        self._random = random
        self._deadline = deadline
        self._places = BoundedSemaphore(_AT_ONCE)
        self._spent: TTLCache[str, bool] = TTLCache(
            _MAX_SPENT, LONGEST_AWAY.total_seconds(), timer=lambda: now().timestamp()
        )
        self._lock = Lock()  # of `_spent`; nothing is waited for under it
        self._tls = ssl.create_default_context()
        self._discovery: tuple[datetime, Discovery] | None = None
        self._keys: tuple[datetime, KeySet] | None = None

    def begin(self, after: str) -> tuple[str, str]:
        """The address of the provider's sign-in page, and the cookie that the browser keeps until the return.

        `after` is the path of the page that the person then sees.

        Raises:
            Retriable, WrongSettings: the provider is down, or is not the one in the settings.
        """
        begun = SignInState(state=self._random(32), nonce=self._random(32), verifier=self._random(48), after=after)
        challenge = urlsafe_b64encode(hashlib.sha256(begun.verifier.encode()).digest()).rstrip(b"=").decode()
        with self._place():
            endpoint = self._discover().authorization
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": " ".join(dict.fromkeys(("openid", *self._settings.scopes))),
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}", sign_state(
            begun, self._cookie_key, self._now()
        )

    def begun(self, cookie: str) -> SignInState | None:
        """The state in the cookie of `begin`; None when it is another one, or too old."""
        return read_state(cookie, self._cookie_key, self._now())

    def finish(self, code: str, begun: SignInState) -> Session:
        """The session of the person who returned with `code`.

        Raises:
            SignInRefused: the sign-in was used before, the code or the token is not valid, or no claim of the token
                gives a role.
            Retriable, WrongSettings: as for `begin`.
        """
        with self._lock:
            if begun.state in self._spent:
                raise SignInRefused("This sign-in was used before. Try again.")
            self._spent[begun.state] = True
        with self._place():
            discovery = self._discover()
            token = self._exchange(discovery, code, begun.verifier)
            claims = self._check(discovery, token, begun.nonce)
        role = role_of(claims, self._settings)
        if role is None:
            raise SignInRefused("The provider knows you, but you have no role in monitor yet: ask an administrator.")
        return Session(subject=f"oidc:{_name(claims)}", role=role)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """A place among the sign-ins that wait for the provider.

        Raises:
            Retriable: all are taken.
        """
        if not self._places.acquire(blocking=False):
            raise Retriable(f"{_AT_ONCE} sign-ins wait for the provider already")
        try:
            yield
        finally:
            self._places.release()

    def _exchange(self, discovery: Discovery, code: str, verifier: str) -> str:
        """The ID token for a code."""
        settings = self._settings
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect_uri,
            "code_verifier": verifier,
        }
        secret = settings.client_secret.get_secret_value() if settings.client_secret else None
        basic = None
        if secret is None or discovery.by_post:
            form |= {"client_id": settings.client_id or ""} | ({} if secret is None else {"client_secret": secret})
        else:  # RFC 6749 §2.3.1: both are form-encoded first
            basic = httpx2.BasicAuth(quote(settings.client_id or "", safe=""), quote(secret, safe=""))
        status, answer = self._request(discovery.token, form, basic)
        token = answer.get("id_token")
        if status != httpx2.codes.OK or not isinstance(token, str):
            log.warning(
                "sign-in: %s refused the code: HTTP %d, %s", discovery.token, status, _short(answer.get("error"))
            )
            raise SignInRefused("The provider refused this sign-in: it took too long, or was used before. Try again.")
        return token

    def _check(self, discovery: Discovery, token: str, nonce: str) -> Mapping[str, Any]:
        """The claims of a token that is genuine, fresh and issued to this dashboard."""
        ours = self._settings.client_id or ""
        rules = jwt.JWTClaimsRegistry(
            now=int(self._now().timestamp()),
            leeway=_LEEWAY,
            iss={"essential": True, "value": discovery.issuer},
            sub={"essential": True},
            aud={"essential": True, "value": ours},
            exp={"essential": True},
            iat={"essential": True},
        )
        try:
            claims = self._verify(discovery, token).claims
            rules.validate(claims)
        except (JoseError, ValueError, TypeError, KeyError) as error:  # the library passes some of these on
            raise _bad_token(f"{type(error).__name__}: {error}") from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if claims.get("azp", None if several else ours) != ours:
            raise _bad_token("it was issued to another client (azp)")
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(errors="replace"), nonce.encode()):
            raise _bad_token("its nonce is not the one of this sign-in")
        if len(str(claims["sub"])) > _MAX_SUB:
            raise _bad_token(f"its sub is longer than {_MAX_SUB} characters")
        return claims

    def _verify(self, discovery: Discovery, token: str) -> jwt.Token:
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        try:
            return jwt.decode(token, self._key_set(discovery), ALGORITHMS, registry)
        except InvalidKeyIdError:  # the provider may have changed its keys
            return jwt.decode(token, self._key_set(discovery, max_age=_KEY_REFETCH), ALGORITHMS, registry)

    def _discover(self) -> Discovery:
        if self._discovery is None or self._now() - self._discovery[0] >= _MAX_AGE:
            address = f"{(self._settings.issuer or '').rstrip('/')}/.well-known/openid-configuration"
            status, document = self._request(address)
            if status != httpx2.codes.OK:
                raise WrongSettings(f"MONITOR_WEB__OIDC__ISSUER: {address} answers with HTTP {status}")
            self._discovery = self._now(), parse_discovery(self._settings.issuer or "", document)
        return self._discovery[1]

    def _key_set(self, discovery: Discovery, *, max_age: timedelta = _MAX_AGE) -> KeySet:
        if self._keys is None or self._now() - self._keys[0] >= max_age:
            status, document = self._request(discovery.keys)
            try:
                keys = KeySet.import_key_set(document)  # type: ignore[arg-type] # it reports what is wrong
            except (JoseError, ValueError, TypeError, KeyError, AttributeError):
                raise Retriable(f"{discovery.keys} has no readable keys: HTTP {status}") from None
            self._keys = self._now(), keys
        return self._keys[1]

    def _request(
        self, url: str, form: Mapping[str, str] | None = None, auth: httpx2.BasicAuth | None = None
    ) -> tuple[int, Mapping[str, Any]]:
        """The status and the JSON object of the response; {} when the body is not a JSON object."""
        content = bytearray()
        try:
            with (
                httpx2.Client(timeout=_TIMEOUT, verify=self._tls, follow_redirects=False) as client,
                _closed_after(self._deadline, client),
                client.stream(
                    "GET" if form is None else "POST", url, data=form, auth=auth, headers={"Accept": "application/json"}
                ) as response,
            ):
                for chunk in response.iter_bytes():
                    content += chunk
                    if len(content) > _MAX_ANSWER:
                        break
        # RuntimeError: the client was closed at the deadline, between two of its steps
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, RuntimeError, ValueError) as error:
            raise Retriable(f"{urlsplit(url).netloc} does not answer: {type(error).__name__}") from None
        if response.status_code >= httpx2.codes.INTERNAL_SERVER_ERROR:
            raise Retriable(f"{urlsplit(url).netloc} answers with HTTP {response.status_code}")
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        return response.status_code, body if isinstance(body, dict) else {}


@contextmanager
def _closed_after(seconds: float, client: httpx2.Client) -> Iterator[None]:
    """Closes `client` unless the block ends before; the timeouts of the client begin anew with each byte."""
    timer = Timer(seconds, client.close)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _name(claims: Mapping[str, Any]) -> str:
    """The name for the audit trail, such that nobody can choose it to be another's.

    It is the e-mail address that the provider has verified. Without one it is `preferred_username/sub`: people may be
    free to choose and change the former (OpenID Connect Core 1.0 §5.7), so what follows the first slash tells them
    apart. Without a user name, or with one that could hide what follows, it is `sub`, which the provider chooses.
    """
    email, user, sub = claims.get("email"), claims.get("preferred_username"), str(claims["sub"])
    if claims.get("email_verified") is True and isinstance(email, str) and _fits(email):
        return email
    if isinstance(user, str) and _fits(user) and not re.search(r"[\s/]", user):
        return f"{user}/{sub}"
    return sub


def _fits(name: str) -> bool:
    return 0 < len(name) <= _MAX_NAME and name.isprintable()


def _bad_token(why: str) -> SignInRefused:
    log.warning("sign-in: the provider's ID token was refused: %s", why)
    return SignInRefused("The provider's answer could not be verified. Try again; the log has the details.")


def _short(foreign: object) -> str:
    """Foreign text for the log."""
    return ascii(foreign)[:200]
