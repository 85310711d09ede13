"""What can be found in a text, and the words that take its place."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """Kinds of personal data, by the names that settings give them; in the order in which they are looked for."""

    KEY = "key"
    E_MAIL = "e-mail"
    IBAN = "iban"
    CARD = "card"
    NATIONAL_ID = "national_id"
    PHONE = "phone"

    @property
    def word(self) -> str:
        """What stands in its place."""
        return {Kind.IBAN: "[IBAN]", Kind.NATIONAL_ID: "[national id]"}.get(self, f"[{self}]")
