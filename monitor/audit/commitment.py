"""Commitments to what is personal: an HMAC under a key that only the secret of the interaction gives.

Whoever is given a field's key and its value can check the commitment; of other fields the key says nothing. When the
secret is deleted, no commitment of the interaction can be opened any more, or found by guessing.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

from monitor.audit.canonical import canonical
from monitor.model import Json

SECRET_BYTES = 32


def new_secret(random: Callable[[int], bytes] = secrets.token_bytes) -> bytes:
    """The secret of one interaction, 32 bytes; `random` gives as many as it is asked for."""
    return random(SECRET_BYTES)


def field_key(secret: bytes, field: str) -> bytes:
    """HMAC-SHA256 of the field's name under the secret: the key of this field alone."""
    return hmac.digest(secret, field.encode(), "sha256")


def commitment(key: bytes, value: Json) -> str:
    """HMAC-SHA256 of the value's canonical bytes under the field's key, in hex.

    Raises:
        ValueError: the value has no canonical form.
    """
    return hmac.digest(key, canonical(value), "sha256").hex()
