"""A leaf as it is stored: the bytes of its body, what the body says, and whether the body fits its columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from monitor.audit.canonical import canonical, canonical_of_json
from monitor.audit.record import Record, portable
from monitor.core.model import Json, Mark
from monitor.store.audit_queue import STORED
from monitor.store.audit_rows import REVISES, Key, part_of

_OCCURRED = ',"occurred_at":"'  # cannot occur within a text of the body, where quotes are escaped
_VERSION = ',"v":'
ENTRY = "entry"
_ENTRY = f',"{ENTRY}":"'
_REVISES = f',"{REVISES}":"'


class Leaf(NamedTuple):
    """A row of `audit_leaf`."""

    number: int
    kind: str
    app: str
    subject: str
    part: str
    sealed_at: datetime
    body: str
    hash: bytes

    @property
    def key(self) -> Key:
        """The key of the stored row that the leaf is about."""
        return self.app, self.subject, self.part


def leaf_body(record: Record, sealed_at: datetime) -> bytes:
    """The bytes of a leaf: the record and the time of sealing, in canonical form."""
    return canonical_of_json({**record, "sealed_at": portable(sealed_at)})


def leaf_part(record: Mapping[str, Any]) -> str:
    """Which row of its interaction a record is about: the part of its `Key`."""
    return str(record["part"]) if record.get("gone") else part_of(record["kind"], record)


def committed(record: Record) -> dict[str, Json]:
    """The commitments of a record by field; empty where it has none."""
    commitments = record.get("committed")
    return commitments if isinstance(commitments, dict) else {}


def sealed_record(leaf: Leaf) -> Record:
    """The record of the leaf's body; empty where the body was replaced by something else."""
    return parsed(leaf.body) or {}


def malformed(leaf: Leaf) -> str | None:
    """What is wrong with a leaf by itself: its body is not canonical, or contradicts its columns."""
    try:
        record = json.loads(leaf.body)
        is_canonical = canonical(record) == leaf.body.encode()
    except (ValueError, RecursionError):
        return "its body is not canonical JSON"
    if not is_canonical or not isinstance(record, dict):
        return "its body is not canonical JSON"
    in_body = (record.get("kind"), record.get("app"), record.get("id"), record.get("sealed_at"))
    if in_body != (leaf.kind, leaf.app, leaf.subject, portable(leaf.sealed_at)):
        return "its columns contradict its body"
    try:
        return None if leaf_part(record) == leaf.part else "its columns contradict its body"
    except KeyError:
        return "its body does not fit its kind"


def entry_name(source: str, number: int, record: int) -> str:
    """How a leaf names the entry that it came from, and which record of it, from 1 on."""
    return f"{source}/{number}" if record == 1 else f"{source}/{number}/{record}"


def entry_of(kind: str, body: str) -> str | None:
    """The `entry_name` in a body; None in leaves of releases without numbered entries.

    The body of a row's leaf is not parsed.
    """
    if kind in STORED:
        return _text_after(_ENTRY, body)
    name = (parsed(body) or {}).get(ENTRY)
    return name if isinstance(name, str) else None


def of_leaf(kind: str, body: str) -> Record:
    """What the body of a row's leaf says beside the record of the row and the time of sealing, without parsing it."""
    entry, before = entry_of(kind, body), _text_after(_REVISES, body)
    said: Record = {} if entry is None else {ENTRY: entry}
    return said if before is None else {**said, REVISES: before}


def revises(body: str) -> bool:
    """Whether the body of a row's leaf names the record that it revises, without parsing the body."""
    return _REVISES in body


def version_of(body: str) -> int:
    """The version of the record in a body, without parsing the body; the first one where the body does not say."""
    at = body.find(_VERSION)
    digit = body[at + len(_VERSION) : at + len(_VERSION) + 1] if at >= 0 else ""
    return int(digit) if digit.isdecimal() else 1


def occurred(body: str) -> datetime | None:
    """When the interaction of a body occurred, without parsing the body; None where the body does not say."""
    at = _text_after(_OCCURRED, body)
    try:
        found = None if at is None else datetime.fromisoformat(at)
        # in UTC, since the database takes no offset of more than 15 hours
        return found if found is None else found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _text_after(mark: str, body: str) -> str | None:
    """The text that a mark with its opening quote begins, up to the next quote; None where there is no such mark."""
    at = body.find(mark)
    if at < 0:
        return None
    at += len(mark)
    end = body.find('"', at)
    return body[at:end] if end >= 0 else body[at:]


def parsed(text: str) -> Record | None:
    """The record in a body or a queued entry; None where it is not a JSON object."""
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def live_verdict(body: str) -> str | None:
    """The verdict in the body of an assessment's leaf; None where that was not the live assessment."""
    record: Mapping[str, Any] = parsed(body) or {}
    return record.get("verdict") if record.get("live") else None


def stored_instead(body: str) -> datetime | None:
    """When an interaction was stored, where retention goes by that time: it is marked, and claims a later one."""
    record: Mapping[str, Any] = parsed(body) or {}
    try:
        if Mark.TIME_OUT_OF_RANGE not in record["marks"]:
            return None
        occurred_at, stored_at = (datetime.fromisoformat(record[name]) for name in ("occurred_at", "stored_at"))
        claims_later = stored_at < occurred_at
    except (ValueError, TypeError, KeyError):
        return None
    return stored_at if claims_later else None
