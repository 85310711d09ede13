"""What a verification finds wrong, with the leaf or row to look at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """The kind of a finding."""

    LEAF = "leaf"  # a leaf is missing, or was changed
    TILE = "tile"
    CHECKPOINT = "checkpoint"
    CHANGED = "changed"  # a stored row is not what was sealed
    MISSING = "missing"  # a sealed row is not stored, and no act accounts for that
    UNSEALED = "unsealed"  # a stored row is in no leaf
    SECRET = "secret"  # noqa: S105  a secret is missing, was changed, or should not exist
    QUEUE = "queue"  # an entry that waits, or waited, is not from a process that stores, or is lost
    ACT = "act"  # an act is not stored as it was sealed
    WITNESS = "witness"  # a witness holds another checkpoint
    POSITIONS = "positions"  # offsets are in no statement, or not stored as one says
    RECOVERY = "recovery"  # a leaf claims to be a recovery, and is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that is wrong, in a plain sentence, with the leaf or the row that it is about, if there is one."""

    fault: Fault
    sentence: str
    index: int | None = None
    app: str = ""
    subject: str = ""
