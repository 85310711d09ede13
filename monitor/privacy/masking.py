"""Masks texts for display: personal numbers, addresses and keys become placeholders, whatever the country.

Stored texts stay as they are; `monitor.privacy.redaction.redactor` is for those.
"""

from __future__ import annotations

from dataclasses import replace

from monitor.core.text.personal_data import PersonalData
from monitor.privacy.redaction.escapes import find_everywhere
from monitor.privacy.redaction.redactor import DISPLAYED
from monitor.privacy.redaction.spans import Finding, replaced

E_MAIL = PersonalData.E_MAIL.placeholder
PHONE = PersonalData.PHONE.placeholder
CARD = PersonalData.CARD.placeholder
IBAN = PersonalData.IBAN.placeholder
KEY = PersonalData.KEY.placeholder
_LONGEST = 1_000  # characters; no finding is longer


def redact(text: str) -> str:
    r"""`text` with `[e-mail]`, `[phone]`, `[card]`, `[IBAN]` and `[key]` in place of the data that they name.

    Data in JSON escapes, such as `\u0040` for `@`, is found too; the rest of the text stays as it is.
    """
    return replaced(text, _find(text))


def without_findings(text: str) -> str:
    """`text` with a space in place of what `redact` finds, so that placeholders are not taken for words."""
    return replaced(text, [replace(span, placeholder=" ") for span in _find(text)])


def redact_part(text: str, start: int, end: int) -> str:
    """`text[start:end]` without any part of what `redact` finds in the whole text."""
    spans = [
        Finding(start=max(span.start, start) - start, end=min(span.end, end) - start, placeholder=span.placeholder)
        for span in _find(text)
        if span.start < end and span.end > start
    ]
    return replaced(text[start:end], spans)


def redact_head(text: str, most: int) -> str:
    """The first `most` characters, masked as in the whole text, of which only the beginning is read."""
    return redact_part(text[: most + _LONGEST], 0, most)


def _find(text: str) -> list[Finding]:
    return find_everywhere(text, DISPLAYED)
