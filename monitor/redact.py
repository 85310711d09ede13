"""Texts as they are shown: personal numbers, addresses and keys replaced by a word for what stood there.

Always, and whatever the country; what is stored stays as it is. `monitor.redaction.redactor` is for what is stored.
"""

from __future__ import annotations

from monitor.redaction.kind import Kind
from monitor.redaction.redactor import DISPLAYED
from monitor.redaction.spans import found, replaced

E_MAIL, PHONE, CARD, IBAN, KEY = (
    kind.word for kind in (Kind.E_MAIL, Kind.PHONE, Kind.CARD, Kind.IBAN, Kind.KEY)
)  # fmt: skip


def redact(text: str) -> str:
    """`text` with `[e-mail]`, `[phone]`, `[card]`, `[IBAN]` and `[key]` in place of what they name."""
    return replaced(text, found(text, DISPLAYED))
