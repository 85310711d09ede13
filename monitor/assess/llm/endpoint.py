"""What every client of an OpenAI-compatible server is given: an address and a key."""

from __future__ import annotations

from monitor.core.errors import WrongSettings

DEFAULT_BASE_URL = "https://api.openai.com/v1"


def check_key(key: str, *, of: str, setting: str) -> None:
    """Sees to it that a key can be sent in a header.

    Raises:
        WrongSettings: it cannot; the message names the `setting`, and never the key.
    """
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise WrongSettings(f"{of} API key is empty or holds white space: set {setting}")
