"""What a verification finds wrong, named so that somebody can look at it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """What sort of thing is wrong."""

    LEAF = "leaf"  # it is missing, or is not what it was
    TILE = "tile"
    CHECKPOINT = "checkpoint"
    CHANGED = "changed"  # a stored row is not what was sealed
    MISSING = "missing"  # a sealed row is not stored, and nothing accounts for that
    UNSEALED = "unsealed"  # a stored row is in no leaf
    SECRET = "secret"  # noqa: S105  one is missing, changed, or should not be there
    ACT = "act"  # what somebody did is not stored as it was sealed
    WITNESS = "witness"  # a witness was told otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong: the leaf or the row that it is about, as far as there is one, in a plain sentence."""

    fault: Fault
    sentence: str
    index: int | None = None
    app: str = ""
    subject: str = ""
