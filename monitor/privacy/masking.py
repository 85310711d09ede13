"""Texts as they are shown: personal numbers, addresses and keys replaced by a word for what stood there.

Always, and whatever the country; what is stored stays as it is. `monitor.privacy.redaction.redactor` is for what is stored.
"""

from __future__ import annotations

from monitor.core.model import Kind
from monitor.privacy.redaction.redactor import DISPLAYED
from monitor.privacy.redaction.spans import Found, found, replaced

E_MAIL, PHONE, CARD, IBAN, KEY = (
    kind.word for kind in (Kind.E_MAIL, Kind.PHONE, Kind.CARD, Kind.IBAN, Kind.KEY)
)  # fmt: skip
_LONGEST = 1_000  # characters of anything that is masked, and more


def redact(text: str) -> str:
    """`text` with `[e-mail]`, `[phone]`, `[card]`, `[IBAN]` and `[key]` in place of what they name."""
    return replaced(text, found(text, DISPLAYED))


def redact_part(text: str, start: int, end: int) -> str:
    """`text[start:end]` without what `redact` takes out of the whole text, nor any part of that."""
    spans = [
        Found(start=max(span.start, start) - start, end=min(span.end, end) - start, word=span.word)
        for span in found(text, DISPLAYED)
        if span.start < end and span.end > start
    ]
    return replaced(text[start:end], spans)


def redact_head(text: str, most: int) -> str:
    """The first `most` characters, masked as in the whole text, which is not gone through for it."""
    return redact_part(text[: most + _LONGEST], 0, most)
