"""Signs the cookie that a browser carries while its user is at the provider, so that nobody else can write one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta

from itsdangerous import BadData, TimestampSigner, URLSafeTimedSerializer
from typing_extensions import override

LIFETIME = timedelta(minutes=10)
_OLDEST = int(LIFETIME.total_seconds()) - 1  # seconds; itsdangerous still accepts a cookie of exactly this age
_SALT = b"monitor: signing in"  # keeps signatures of other uses of the same key from counting here


def sign_state(state: Mapping[str, str], key: bytes, now: datetime) -> str:
    """`state` as a cookie value."""
    return str(_serializer(key, now).dumps(dict(state)))


def read_state(cookie: str, key: bytes, now: datetime) -> Mapping[str, str] | None:
    """What `sign_state` was given; None when the signature is not of `key`, or the cookie is older than `LIFETIME`."""
    try:
        state: Mapping[str, str] = _serializer(key, now).loads(cookie.encode(errors="replace"), max_age=_OLDEST)
    except BadData:
        return None
    return state


def _serializer(key: bytes, now: datetime) -> URLSafeTimedSerializer:
    class SignerAt(TimestampSigner):
        @override
        def get_timestamp(self) -> int:
            return int(now.timestamp())

    # 48 bytes fill their base64 exactly: there is no second way to write the same signature
    options = {"key_derivation": "hmac", "digest_method": hashlib.sha384}
    return URLSafeTimedSerializer(key, salt=_SALT, signer=SignerAt, signer_kwargs=options)
