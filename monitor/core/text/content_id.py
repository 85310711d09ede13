"""Names a text by its content."""

from __future__ import annotations

import hashlib


def content_id(text: str, digits: int = 16) -> str:
    """`sha256:` and the first hexadecimal digits of the text's hash: equal texts, equal ids."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()[:digits]
