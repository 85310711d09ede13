"""Compares leaves with stored rows: the same, accounted for by an act or a revision, or changed, naming the fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from monitor.audit.export import Stored
from monitor.audit.finding import Fault, Finding
from monitor.audit.record import Record
from monitor.core.model import Mark
from monitor.store.audit.accounts import Accounts
from monitor.store.audit.leaf import Key, Leaf, committed, leaf_body, malformed, occurred, sealed_record, version_of
from monitor.store.audit.rows import SECRET, read_rows, row_record
from monitor.store.audit_queue import STORED, Kind

if TYPE_CHECKING:
    import psycopg

_NEWEST = """
    SELECT w.app, w.subject, w.part, max(l.index)
    FROM unnest(%s::text[], %s::text[], %s::text[]) AS w (app, subject, part)
    JOIN audit_leaf l ON l.app = w.app AND l.subject = w.subject AND l.part = w.part AND l.kind = %s
    GROUP BY w.app, w.subject, w.part
"""
_QUEUED = """
    SELECT q.app, q.subject, q.part
    FROM unnest(%s::text[], %s::text[], %s::text[]) AS w (app, subject, part)
    JOIN audit_queue q ON q.app = w.app AND q.subject = w.subject AND q.part = w.part AND q.kind = %s
"""
_LEAVES_OF_MISSING = """
    SELECT l.app, l.subject, l.kind, l.body FROM unnest(%s::text[], %s::text[]) AS w (app, subject)
    JOIN audit_leaf l ON l.app = w.app AND l.subject = w.subject AND l.kind IN ('interaction', 'assessment')
    ORDER BY l.index
"""
_NO_SECRET = bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowComparison:
    """A leaf and its stored row.

    `row` is None where no row is stored at the leaf's time. `record` is what would be sealed of the row now, None where
    there is no row, no secret, or a value that cannot be sealed. `finding` is set exactly where `state` is DIFFERS;
    `fields` then names the fields that differ, as far as the two can be compared field by field.
    """

    leaf: Leaf
    row: Mapping[str, Any] | None
    record: Record | None
    state: Stored
    finding: Finding | None = None
    fields: tuple[str, ...] = ()

    @property
    def differs(self) -> tuple[str, ...]:
        """How the row differs from the leaf, in sentences."""
        if self.finding is None:
            return ()
        fields = tuple(f"{name}: the stored value is not the sealed one" for name in self.fields)
        return fields or (self.finding.sentence,)


def compare_rows(
    connection: psycopg.Connection, leaves: Sequence[Leaf], accounts: Callable[[], Accounts]
) -> Iterator[RowComparison]:
    """Compares each leaf of a stored row with that row; leaves of acts are left out.

    `accounts` is called only where a row differs from its leaf.
    """
    for kind in STORED:
        of_kind = [leaf for leaf in leaves if leaf.kind == kind]
        times = [occurred(leaf.body) for leaf in of_kind]
        rows = read_rows(connection, kind, [leaf.key for leaf in of_kind], times)
        unequal = []
        for leaf in of_kind:
            row = rows.get(leaf.key)
            record = _record(kind, row, version_of(leaf.body))
            if record is not None and leaf_body(record, leaf.sealed_at) == leaf.body.encode():
                yield RowComparison(leaf=leaf, row=row, record=record, state=Stored.SAME)
            else:
                unequal.append(_Unequal(leaf, row, record))
        if unequal:
            yield from _explained(connection, kind, unequal, accounts())


class _Unequal(NamedTuple):
    """A leaf whose row is missing or gives another record."""

    leaf: Leaf
    row: Mapping[str, Any] | None
    record: Record | None


def _record(kind: str, row: Mapping[str, Any] | None, version: int) -> Record | None:
    if row is None or row[SECRET] is None:
        return None
    try:
        return row_record(kind, row, bytes(row[SECRET]), version)
    except (TypeError, ValueError):
        return None


def _explained(
    connection: psycopg.Connection, kind: str, unequal: Sequence[_Unequal], accounts: Accounts
) -> Iterator[RowComparison]:
    """Says of each pair, all of one kind, what accounts for the difference, or that it was changed."""
    well_formed = []
    for pair in unequal:
        if problem := malformed(pair.leaf):
            yield _compared(pair, accounts, _finding(Fault.LEAF, pair.leaf, f"leaf {pair.leaf.number}: {problem}"))
        else:
            well_formed.append(pair)
    if well_formed:
        trail = _Trail(connection, kind, well_formed, accounts)
        for pair in well_formed:
            yield _compared(pair, accounts, trail.fault(pair))


def _compared(pair: _Unequal, accounts: Accounts, finding: Finding | None) -> RowComparison:
    leaf, row, record = pair
    sealed = sealed_record(leaf)
    fields: tuple[str, ...] = ()
    if finding is not None:
        state = Stored.DIFFERS
        if record is not None and sealed and record.get("revised_at") == sealed.get("revised_at"):
            fields = (*_public_differences(record, sealed), *_text_differences(record, sealed))
    elif row is None:
        was_erased = sealed.get("gone") and (leaf.app, leaf.subject) in accounts.erased
        state = Stored.ERASED if was_erased else Stored.REMOVED
    else:
        state = Stored.ERASED if row[SECRET] is None else Stored.REVISED
    return RowComparison(leaf=leaf, row=row, record=record, state=state, finding=finding, fields=fields)


class _Trail:
    """What the trail says about some unequal rows of one kind, with one query for all of them."""

    def __init__(
        self, connection: psycopg.Connection, kind: str, pairs: Sequence[_Unequal], accounts: Accounts
    ) -> None:
        keys = [list(column) for column in zip(*(pair.leaf.key for pair in pairs), strict=True)]
        rows = connection.execute(_NEWEST, (*keys, kind)).fetchall()
        self._kind = kind
        self._accounts = accounts
        self._newest: dict[Key, int] = {(app, subject, part): index for app, subject, part, index in rows}
        self._queued = set(connection.execute(_QUEUED, (*keys, kind)).fetchall())
        self._verdicts: dict[tuple[str, str], str] = {}
        self._stored_at: dict[tuple[str, str], datetime] = {}
        missing = sorted({pair.leaf.key[:2] for pair in pairs if pair.row is None})
        if missing and accounts.retentions:
            columns = [list(column) for column in zip(*missing, strict=True)]
            for app, subject, leaf_kind, body in connection.execute(_LEAVES_OF_MISSING, columns):
                if leaf_kind == Kind.ASSESSMENT and (verdict := _live_verdict(body)):
                    self._verdicts[app, subject] = verdict
                if leaf_kind == Kind.INTERACTION and (stored_at := _stored_instead(body)):
                    self._stored_at[app, subject] = stored_at

    def fault(self, pair: _Unequal) -> Finding | None:
        """What is wrong with the row; None where an erasure, a retention or a revision accounts for it."""
        leaf, record = pair.leaf, json.loads(pair.leaf.body)
        is_newest = self._newest[leaf.key] == leaf.number
        if pair.row is None:
            return self._missing(leaf, record) if is_newest else None
        if record.get("gone"):
            return self._stored_again(pair) if is_newest else None
        if pair.row[SECRET] is None:
            return self._without_secret(pair, record)
        if (leaf.app, leaf.subject) in self._accounts.erased and is_newest:
            return _finding(Fault.SECRET, leaf, f"{_named(leaf)} was erased, and its secret is stored")
        if self._kind == Kind.ASSESSMENT and (not is_newest or leaf.key in self._queued):
            return self._revised(pair, record)
        return self._changed(pair, record)

    def _missing(self, leaf: Leaf, record: Record) -> Finding | None:
        if self._may_be_missing(leaf, record):
            return None
        return _finding(Fault.MISSING, leaf, f"{_named(leaf)} is not stored at its time, and no retention says why")

    def _stored_again(self, pair: _Unequal) -> Finding | None:
        if self._is_erased(pair):
            return None
        leaf = pair.leaf
        return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} was gone when it was sealed, and is stored now")

    def _may_be_missing(self, leaf: Leaf, record: Record) -> bool:
        interaction = leaf.app, leaf.subject
        if record.get("gone"):
            return self._accounts.retention_in(leaf.app) or interaction in self._accounts.erased
        occurred_at = self._stored_at.get(interaction) or datetime.fromisoformat(str(record["occurred_at"]))
        return self._accounts.removed(leaf.app, occurred_at, self._verdicts.get(interaction))

    def _is_erased(self, pair: _Unequal) -> bool:
        return pair.row is not None and pair.row[SECRET] is None and pair.leaf.key[:2] in self._accounts.erased

    def _without_secret(self, pair: _Unequal, record: Record) -> Finding | None:
        """Compares the public fields: without the secret the texts cannot be compared."""
        leaf = pair.leaf
        if not self._is_erased(pair):
            return _finding(Fault.SECRET, leaf, f"the secret of {_named(leaf)} is gone, and no erasure says why")
        if self._newest[leaf.key] != leaf.number:
            return None
        if texts := [name for name in committed(record) if not _blank((pair.row or {}).get(name))]:
            return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} was erased, and has again: {', '.join(texts)}")
        return self._changed(pair, record, erased=True)

    def _revised(self, pair: _Unequal, record: Record) -> Finding | None:
        """Compares the leaf with what the row keeps of the assessment that was there before the revision."""
        leaf, row = pair.leaf, pair.row or {}
        superseded = row["live"] and not record["live"]  # a rescore under a profile that became the live one
        if superseded or (row["revised_at"] is not None and record["revised_at"] is not None):
            return None  # of several revisions the row keeps only the state before the last one
        if row["revised_at"] is not None and isinstance(row["earlier"], dict):
            place = {name: row[name] for name in ("app", "id", "occurred_at", "live")}
            before = {**row["earlier"], **place, "revised_at": None, "earlier": None}
            try:
                made = row_record(self._kind, before, bytes(row[SECRET]), version_of(leaf.body))
                body = leaf_body(made, leaf.sealed_at)
            except (KeyError, TypeError, ValueError):
                body = b""
            if body == leaf.body.encode():
                return None
        return _finding(
            Fault.CHANGED, leaf, f"{_named(leaf)} was changed: it does not say what it was before it was revised"
        )

    def _changed(self, pair: _Unequal, sealed: Record, *, erased: bool = False) -> Finding | None:
        leaf, row = pair.leaf, dict(pair.row or {})
        if erased and "marks" in row:
            row["marks"] = [mark for mark in row["marks"] if mark != Mark.ERASED]
        try:
            secret = _NO_SECRET if erased else bytes(row[SECRET])
            record = row_record(self._kind, row, secret, version_of(leaf.body))
        except (TypeError, ValueError) as error:
            return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} was changed: {error}")
        fields = _public_differences(record, sealed)
        if not erased:
            texts = _text_differences(record, sealed)
            if not fields and texts == list(committed(record)):
                return _finding(Fault.SECRET, leaf, f"the secret of {_named(leaf)} was changed, or all of its texts")
            fields = fields + texts or ["something that should not be there"]
        if not fields:
            return None
        return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} was changed: {', '.join(fields)}")


def _public_differences(record: Record, sealed: Record) -> list[str]:
    return [name for name in record if name != "committed" and record[name] != sealed.get(name)]


def _text_differences(record: Record, sealed: Record) -> list[str]:
    texts, sealed_texts = committed(record), committed(sealed)
    return [name for name in texts if texts[name] != sealed_texts.get(name)]


def _blank(value: Any) -> bool:
    """Whether an erasure left the value like this: without texts; the origin of support and figures stay."""
    if isinstance(value, dict):
        return all(name in {"origin", "features"} or _blank(item) for name, item in value.items())
    return not value


def _live_verdict(body: str) -> str | None:
    try:
        record = json.loads(body)
    except ValueError:
        return None
    return record.get("verdict") if isinstance(record, dict) and record.get("live") else None


def _stored_instead(body: str) -> datetime | None:
    """When an interaction was stored, where retention goes by that time: it is marked, and claims a later one."""
    try:
        record = json.loads(body)
        if Mark.TIME_OUT_OF_RANGE not in record["marks"]:
            return None
        occurred_at, stored_at = (datetime.fromisoformat(record[name]) for name in ("occurred_at", "stored_at"))
    except (ValueError, TypeError, KeyError):
        return None
    return stored_at if stored_at < occurred_at else None


def _named(leaf: Leaf) -> str:
    part = f" ({leaf.part})" if leaf.part else ""
    return f"the {leaf.kind} of {leaf.subject} in {leaf.app}{part}, leaf {leaf.number},"


def _finding(fault: Fault, leaf: Leaf, sentence: str) -> Finding:
    return Finding(fault=fault, index=leaf.number, app=leaf.app, subject=leaf.subject, sentence=sentence)
