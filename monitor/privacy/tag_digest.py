"""Keyed digests of tags that redaction changed: an answer is found by the exact value, though the value is not stored.

Whoever has the database alone can see which answers share a value, and cannot find the value by guessing, since the
key is not in the database. Whoever has the key can guess: a telephone number has few enough digits.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterable

_BYTES = 16

DigestOfTag = Callable[[str, str], str]  # of a tag's name and exact value


def tag_digest(key: bytes, name: str, value: str) -> str:
    """HMAC-SHA256 of the name and the exact value, cut to 16 bytes, in hex."""
    message = json.dumps([name, value]).encode()
    return hmac.digest(key, message, "sha256")[:_BYTES].hex()


def tag_digests(keys: Iterable[bytes], name: str, value: str) -> tuple[str, ...]:
    """The digests of a tag under each key: the current one, and those before it."""
    return tuple(tag_digest(key, name, value) for key in keys)
