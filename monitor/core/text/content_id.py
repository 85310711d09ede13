"""Names a text by its content."""

from __future__ import annotations

import hashlib
from typing import Final

CONTENT_ID: Final = "sha256:"  # how such a name begins


def content_id(text: str, digits: int = 16) -> str:
    """`sha256:` and the first hexadecimal digits of the text's hash: equal texts, equal ids."""
    return CONTENT_ID + hashlib.sha256(text.encode()).hexdigest()[:digits]
