"""Commitments to personal fields: an HMAC under a key that is derived from the secret of the interaction.

The key and the value of a field are enough to check its commitment, and the key reveals nothing about other fields.
Once the secret is deleted, no commitment of the interaction can be opened, or its value guessed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from hashlib import sha256

from monitor.audit.canonical import canonical
from monitor.core.model import Json

SECRET_BYTES = 32
_BLOCK = 64  # bytes that SHA-256 works on
_TO_BLOCK = bytes(_BLOCK - sha256().digest_size)  # what HMAC adds to a digest that is its key
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))


def new_secret(random: Callable[[int], bytes] = secrets.token_bytes) -> bytes:
    """A secret for one interaction, of 32 bytes; `random` returns as many bytes as it is asked for."""
    return random(SECRET_BYTES)


def field_key(secret: bytes, field: str) -> bytes:
    """The key of one field: HMAC-SHA256 of its name under the secret."""
    return _hmac(secret, field.encode())


def commitment(key: bytes, value: Json) -> str:
    """HMAC-SHA256 of the canonical bytes of the value under the key of the field, in hex.

    Raises:
        ValueError: the value has no canonical form.
    """
    return _hmac(key, canonical(value)).hex()


def commitments(secret: bytes, scope: str, written: Mapping[str, bytes]) -> dict[str, Json]:
    """The commitments to values by their canonical bytes; the name of a field is `scope` and the key of its value.

    Half of sealing goes into hashing, so this keeps what one secret needs for all of its fields.
    """
    inner, outer = _pads(secret)
    made: dict[str, Json] = {}
    for name, value in written.items():
        key = sha256(outer + sha256(inner + (scope + name).encode()).digest()).digest() + _TO_BLOCK
        made[name] = sha256(key.translate(_OUTER) + sha256(key.translate(_INNER) + value).digest()).hexdigest()
    return made


def _hmac(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA256 (RFC 2104) for keys of at most 64 bytes, a third faster than `hmac`."""
    inner, outer = _pads(key)
    return sha256(outer + sha256(inner + message).digest()).digest()


def _pads(key: bytes) -> tuple[bytes, bytes]:
    """What HMAC puts before the message, and before the digest of that."""
    padded = key.ljust(_BLOCK, b"\0")
    return padded.translate(_INNER), padded.translate(_OUTER)
