"""The kinds of personal data that can be masked."""

from __future__ import annotations

from enum import StrEnum


class PersonalData(StrEnum):
    """Kinds of personal data, by the names that settings use, in the order in which they are searched for."""

    KEY = "key"
    E_MAIL = "e-mail"
    IBAN = "iban"
    CARD = "card"
    NATIONAL_ID = "national_id"
    PHONE = "phone"

    @property
    def placeholder(self) -> str:
        """The text that replaces a finding of this kind."""
        special = {PersonalData.IBAN: "[IBAN]", PersonalData.NATIONAL_ID: "[national id]"}
        return special.get(self, f"[{self}]")
