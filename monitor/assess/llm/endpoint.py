"""The address and the key that every client of an OpenAI-compatible server needs."""

from __future__ import annotations

from monitor.core.errors import WrongSettings

DEFAULT_BASE_URL = "https://api.openai.com/v1"


def check_key(key: str, *, of: str, setting: str) -> None:
    """Checks that a key can be sent in a header.

    Raises:
        WrongSettings: the key cannot be sent; the message names the `setting`, never the key.
    """
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise WrongSettings(f"{of} API key is empty or holds white space: set {setting}")
