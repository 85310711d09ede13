"""What a browser keeps for us while its user signs in elsewhere: sealed, so that nobody else can write it."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import datetime, timedelta

LONGEST = timedelta(minutes=10)


def sealed(kept: Mapping[str, str], key: bytes, now: datetime) -> str:
    """`kept` as one word for a cookie."""
    body = urlsafe_b64encode(json.dumps({"kept": dict(kept), "at": now.timestamp()}).encode()).decode()
    return f"{body}.{_seal(body, key)}"


def unsealed(word: str, key: bytes, now: datetime) -> Mapping[str, str] | None:
    """What `sealed` was given, None where the word is not of that key, or older than `LONGEST`."""
    body, _, seal = word.rpartition(".")
    if not hmac.compare_digest(seal.encode(errors="replace"), _seal(body, key).encode()):
        return None
    said = json.loads(urlsafe_b64decode(body))
    if not timedelta() <= now - datetime.fromtimestamp(said["at"], now.tzinfo) < LONGEST:
        return None
    kept: Mapping[str, str] = said["kept"]
    return kept


def _seal(body: str, key: bytes) -> str:
    return hmac.new(key, b"monitor: signing in " + body.encode(errors="replace"), hashlib.sha256).hexdigest()
