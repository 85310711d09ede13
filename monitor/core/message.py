"""What arrives: messages with their places, and how far their source was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a message stood.

    In Kafka these are its own. In a file that is replayed, `topic` is its path and `offset` the line counted from 1; in
    one that is followed, `topic` is its path with inode and hash of the first line, and `offset` the line's first byte.
    """

    topic: str
    partition: int
    offset: int


class Skip(StrEnum):
    """Why an offset of a topic gave no message."""

    TOMBSTONE = "tombstone"  # a null value: the producer deleted the key
    CONTROL = "control"  # a transaction's marker, an aborted message or a compacted one: no reader is shown it
    EXPIRED = "expired"  # the broker's retention deleted it before it was read: this one is lost


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """How far a source was read, and what that gave.

    `expected` is the stored offset that this one replaces, None where there is none. Where offsets count messages,
    `begin` is the first one that was read, so that `next - begin` = `received` + all that was skipped; elsewhere None.
    `topic_id` tells a topic from one of the same name that was deleted, empty where that is not known.
    """

    topic: str
    partition: int
    expected: int | None
    next: int
    begin: int | None = None
    received: int = 0
    skipped: Mapping[Skip, int] = field(default_factory=dict)
    topic_id: str = ""
    arrived: datetime | None = None  # when the last of its messages did, where the source says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a partition was read and stored: all of it that had arrived by `through`, with `behind` messages left.

    A file is one partition, under its path; what is left of it counts as 0 or 1.
    """

    topic: str
    partition: int
    through: datetime
    behind: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOffset:
    """How far a partition was read, as the store has it."""

    next: int
    topic_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Bytes as they arrived, with headers in order and the time of receipt (timezone-aware).

    A message of Kafka was received when its record says so, as long as that is no time to come.
    `size` is the full length in bytes; where it exceeds `len(value)` the source cut the value at its limit.
    `unreadable` says why a source could not read it at all; then there is no value.
    """

    value: bytes
    position: Position
    received_at: datetime
    headers: tuple[tuple[str, bytes], ...] = ()
    key: bytes | None = None
    size: int
    unreadable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message that cannot be an interaction, kept whole with the reason. `path` as in `InvalidMessage`.

    Where personal data was taken out of it, `digest` is the SHA-256 of the bytes that came; else None.
    """

    message: Message
    path: str
    problem: str
    digest: bytes | None = None


Partition: TypeAlias = tuple[str, int]  # topic and number
