"""Signs the cookie that a browser carries while its user is at the provider, so that nobody else can write one."""

from __future__ import annotations

import hmac
from dataclasses import asdict, dataclass
from datetime import datetime

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

from monitor.web.signin.signin import LONGEST_AWAY

_ALGORITHM = "HS384"  # 48 bytes fill their base64 exactly: there is no second way to write the same signature
_SALT = b"monitor: signing in"  # keeps signatures of other uses of the same key from counting here


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInState:
    """What the browser carries from the redirect to the provider until the return; `after` is the page it wanted."""

    state: str
    nonce: str
    verifier: str
    after: str


def sign_state(state: SignInState, key: bytes, now: datetime) -> str:
    """`state` as a cookie value."""
    at = int(now.timestamp())
    claims = {**asdict(state), "iat": at, "exp": at + int(LONGEST_AWAY.total_seconds())}
    return jwt.encode({"alg": _ALGORITHM}, claims, _key(key), [_ALGORITHM])


def read_state(cookie: str, key: bytes, now: datetime) -> SignInState | None:
    """What `sign_state` was given; None when the signature is not of `key`, or it was `LONGEST_AWAY` ago."""
    times = jwt.JWTClaimsRegistry(now=int(now.timestamp()), iat={"essential": True}, exp={"essential": True})
    try:
        claims = jwt.decode(cookie.encode(errors="replace"), _key(key), [_ALGORITHM]).claims
        times.validate(claims)
    except (JoseError, ValueError, TypeError):  # the library passes some of these on, such as of a header of odd types
        return None
    return SignInState(**{name: claims[name] for name in SignInState.__slots__})


def _key(key: bytes) -> OctKey:
    return OctKey.import_key(hmac.digest(key, _SALT, "sha384"))
