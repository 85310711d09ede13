"""Messages as they arrive, their positions, and how far a source was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The place of a message in its source.

    In Kafka: topic, partition and offset. In a replayed file, `topic` is the path and `offset` the line, from 1. In a
    followed file, `topic` is the path with the inode and a hash of the first line, and `offset` the line's first byte.
    """

    topic: str
    partition: int
    offset: int


class Skip(StrEnum):
    """Why an offset of a topic gave no message."""

    TOMBSTONE = "tombstone"  # a null value: the producer deleted the key
    CONTROL = "control"  # a transaction marker, an aborted or a compacted message: readers do not get it
    EXPIRED = "expired"  # the broker's retention deleted the message before it was read: it is lost
    UNREADABLE = "unreadable"  # in a record batch that cannot be decompressed, whose first offset is a dead letter
    COLLECTED = "collected"  # it held spans or several turns, which are counted where they are read, once each


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSpan:
    """The bytes of a file that were read: the first, how many lines, blank ones included, and their SHA-256 in hex."""

    first: int
    lines: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """A file that was read to its end: how many lines it has, how many of them are blank, and the file's SHA-256."""

    name: str
    lines: int
    blank: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset:
    """How far a partition was read, and the messages that this gave.

    `expected` is the stored offset that this one replaces, None if there is none. Where offsets count messages,
    `begin` is the first one read, so `next - begin` = `received` + all skipped; elsewhere it is None. `topic_id` tells
    a topic from a deleted one of the same name; it is empty if unknown.
    """

    topic: str
    partition: int
    expected: int | None
    next: int
    begin: int | None = None
    received: int = 0
    skipped: Mapping[Skip, int] = field(default_factory=dict)
    topic_id: str = ""
    arrived: datetime | None = None  # when the last message did, if the source says so
    file: FileSpan | None = None  # of a followed file

    @property
    def first(self) -> int:
        """The first offset that was read; of a file the first byte."""
        if self.file is not None:
            return self.file.first
        return (self.expected or 0) if self.begin is None else self.begin


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a partition was stored: every message that had arrived by `through`; `behind` messages are left to read.

    A file is one partition, named by its path; its `behind` is 0 or 1.
    """

    topic: str
    partition: int
    through: datetime
    behind: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOffset:
    """How far a partition was read, according to the store."""

    next: int
    topic_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Bytes as they arrived, with headers in order and the time of receipt (timezone-aware).

    For Kafka the time of receipt is the record's timestamp, unless that is in the future.
    `size` is the full length in bytes; if it exceeds `len(value)`, the source cut the value at its limit.
    `unreadable` says why the source could not read the message; `value` is empty then. Only our own inbox sets
    `revises`: the event replaces the interaction of its id.
    """

    value: bytes
    position: Position
    received_at: datetime
    headers: tuple[tuple[str, bytes], ...] = ()
    key: bytes | None = None
    size: int
    unreadable: str | None = None
    revises: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message that cannot be an interaction, with the reason; `path` as in `InvalidMessage`.

    If personal data was removed from it, `digest` is the SHA-256 of the original bytes; else None.
    """

    message: Message
    path: str
    problem: str
    digest: bytes | None = None


Partition: TypeAlias = tuple[str, int]  # topic and number
