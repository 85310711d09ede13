"""A leaf beside the row that is stored: what would be sealed of the row now, and how the two differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import psycopg

from monitor.audit.canonical import canonical
from monitor.audit.finding import Fault, Finding
from monitor.audit.record import Record, Write
from monitor.store.audit.leaf import Leaf, committed, leaf_body, of_leaf
from monitor.store.audit_queue import Kind
from monitor.store.audit_rows import OF_LEAF, SECRET, Key, read_rows, row_record


class UnequalRow(NamedTuple):
    """A leaf whose row is missing or gives another record."""

    leaf: Leaf
    row: Mapping[str, Any] | None
    record: Record | None


def readable(
    connection: psycopg.Connection, kind: Kind, keys: Sequence[Key], times: Sequence[datetime | None] | None = None
) -> dict[Key, Mapping[str, Any]]:
    """As `read_rows`, without rows that hold what Python cannot: a time of infinity, a thousand levels of arrays."""
    try:
        return read_rows(connection, kind, keys, times)
    except (psycopg.DataError, ValueError, RecursionError):
        if len(keys) == 1:
            return {}
    half = len(keys) // 2
    first, second = (None, None) if times is None else (times[:half], times[half:])
    return readable(connection, kind, keys[:half], first) | readable(connection, kind, keys[half:], second)


def sealed_as(record: Record, leaf: Leaf) -> bytes:
    """The body that the leaf would have if it were of this record."""
    return leaf_body({**record, **of_leaf(leaf.kind, leaf.body)}, leaf.sealed_at)


def record_of(kind: str, row: Mapping[str, Any] | None, version: int, write: Write = canonical) -> Record | None:
    """What would be sealed of the row; None where there is no row, no secret, or a value that cannot be sealed."""
    if row is None or row[SECRET] is None:
        return None
    try:
        return row_record(kind, row, bytes(row[SECRET]), version, write)
    except (TypeError, ValueError):
        return None


def public_differences(record: Record, sealed: Record) -> list[str]:
    """The fields in clear that differ."""
    names = [name for name in {**record, **sealed} if name != "committed" and name not in OF_LEAF]
    return [name for name in names if record.get(name) != sealed.get(name)]


def text_differences(record: Record, sealed: Record) -> list[str]:
    """The committed fields that differ."""
    texts, sealed_texts = committed(record), committed(sealed)
    return [name for name in texts if texts[name] != sealed_texts.get(name)]


def named(leaf: Leaf) -> str:
    part = f" ({leaf.part})" if leaf.part else ""
    return f"the {leaf.kind} of {leaf.subject} in {leaf.app}{part}, leaf {leaf.number},"


def finding_at(fault: Fault, leaf: Leaf, sentence: str) -> Finding:
    return Finding(fault=fault, index=leaf.number, app=leaf.app, subject=leaf.subject, sentence=sentence)
