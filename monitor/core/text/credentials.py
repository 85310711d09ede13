"""Hides credentials in URLs before a setting is shown."""

from __future__ import annotations

import re

HIDDEN = "***"
# Up to the last @ of the host's part; beyond a slash too if there is a colon, as in a password that was not encoded.
# The lengths keep the work linear in a text full of "://".
_LOGIN = re.compile(r"(?<=://)(?:[^\s/?#]{0,1024}|[^\s/?#@:]{0,1024}:\S{0,1024})@")
_PARAMETER = re.compile(
    r"([?&;#][^=&;#\s]*(?:key|token|secret|passw|pwd|signature|sig|auth|code|credential)[^=&;#\s]*=)[^&;#\s]*",
    re.IGNORECASE,
)


def without_credentials(text: str) -> str:
    """`text` with the user, password and secret parameters of each URL in it as `***`."""
    if "://" not in text:
        return text
    return _PARAMETER.sub(rf"\1{HIDDEN}", _LOGIN.sub(f"{HIDDEN}@", text))
