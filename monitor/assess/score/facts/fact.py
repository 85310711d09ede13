"""What a hard fact is: a number, a date or a name that a document either holds or does not."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum


class FactKind(StrEnum):
    """What can be looked up without understanding the sentence around it."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact at characters `[start, end)` of its text.

    `key` is its canonical form: for a number its readings (`numbers.Quantity`), for a date or time its readings
    (`dates.Moment`), for a name its folded words. Two facts of one kind and key say the same.
    """

    kind: FactKind
    start: int
    end: int
    text: str
    key: tuple[Hashable, ...]
