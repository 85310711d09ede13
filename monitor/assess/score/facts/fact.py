"""The type of a hard fact: a number, a date or a name, which a document either holds or does not."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum


class FactKind(StrEnum):
    """The kinds of facts that can be looked up without understanding the sentence around them."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact at characters `[start, end)` of its text.

    `key` is its canonical form: for a number its readings (`quantity.Quantity` or `Listed`), for a date or time its
    readings (`dates.Moment`), for a name its folded words. Two facts of the same kind and key are the same fact.
    """

    kind: FactKind
    start: int
    end: int
    text: str
    key: tuple[Hashable, ...]
