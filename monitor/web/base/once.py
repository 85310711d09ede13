"""A secret that opens once: the link that `monitor serve` prints."""

from __future__ import annotations

import hmac
import secrets
from threading import Lock

_BYTES = 32


class OneTimeSecret:
    """Safe to use from several threads: of several that come with the secret, one gets in."""

    def __init__(self) -> None:
        self.secret = secrets.token_urlsafe(_BYTES)
        self._usable = True
        self._lock = Lock()

    def use(self, given: str) -> bool:
        """Whether `given` is the secret, and the first to be."""
        with self._lock:
            opens = self._usable and hmac.compare_digest(given.encode(errors="replace"), self.secret.encode())
            self._usable = self._usable and not opens
            return opens

    def renew(self) -> None:
        """Makes the secret usable again: what it opened could not be given."""
        with self._lock:
            self._usable = True
