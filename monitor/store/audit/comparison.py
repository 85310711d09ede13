"""Compares leaves with stored rows: the same, accounted for by an act or a revision, or changed, naming the fields."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import psycopg

from monitor.audit.export import Stored
from monitor.audit.finding import Fault, Finding
from monitor.audit.record import Record
from monitor.core.model import Mark
from monitor.store.audit.accounts import Accounts, Removed
from monitor.store.audit.leaf import (
    ENTRY,
    Leaf,
    committed,
    leaf_body,
    leaf_part,
    malformed,
    occurred,
    of_leaf,
    sealed_record,
    version_of,
)
from monitor.store.audit_queue import STORED, Entry, Kind, is_authentic
from monitor.store.audit_rows import OF_LEAF, REVISES, SECRET, Key, read_rows, record_digest, row_record

_LEAVES_OF_KEYS = """
    SELECT l.app, l.subject, l.part, l.index, l.body
    FROM unnest(%s::text[], %s::text[], %s::text[]) AS w (app, subject, part)
    JOIN audit_leaf l ON l.app = w.app AND l.subject = w.subject AND l.part = w.part AND l.kind = %s
    ORDER BY l.index
"""
_WAITING = """
    SELECT q.source, q.number, q.mac, q.kind, q.app, q.subject, q.part, q.records
    FROM unnest(%s::text[], %s::text[]) AS w (app, subject)
    JOIN audit_queue q ON q.app = w.app AND q.subject = w.subject AND q.mac IS NOT NULL
    ORDER BY q.seq
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
    `fields` then names the fields that differ, as far as the two can be compared field by field. `removed` is set where
    a retention accounts for a row that is not stored.
    """

    leaf: Leaf
    row: Mapping[str, Any] | None
    record: Record | None
    state: Stored
    finding: Finding | None = None
    fields: tuple[str, ...] = ()
    removed: Removed | None = None

    @property
    def differs(self) -> tuple[str, ...]:
        """How the row differs from the leaf, in sentences."""
        if self.finding is None:
            return ()
        fields = tuple(f"{name}: the stored value is not the sealed one" for name in self.fields)
        return fields or (self.finding.sentence,)


def compare_rows(
    connection: psycopg.Connection, leaves: Sequence[Leaf], accounts: Callable[[], Accounts], queue_key: bytes | None
) -> Iterator[RowComparison]:
    """Compares each leaf of a stored row with that row; leaves of acts are left out.

    `accounts` is called only where a row differs from its leaf. Without the `queue_key`, nothing that waits to be
    sealed accounts for anything.
    """
    for kind in STORED:
        of_kind = [leaf for leaf in leaves if leaf.kind == kind]
        times = [occurred(leaf.body) for leaf in of_kind]
        rows = _readable(connection, kind, [leaf.key for leaf in of_kind], times)
        unequal = []
        for leaf in of_kind:
            row = rows.get(leaf.key)
            record = _record(kind, row, version_of(leaf.body))
            if record is not None and _sealed_as(record, leaf) == leaf.body.encode():
                yield RowComparison(leaf=leaf, row=row, record=record, state=Stored.SAME)
            else:
                unequal.append(_Unequal(leaf, row, record))
        if unequal:
            yield from _explained(connection, kind, unequal, accounts(), queue_key)


def _readable(
    connection: psycopg.Connection, kind: Kind, keys: Sequence[Key], times: Sequence[datetime | None] | None = None
) -> dict[Key, Mapping[str, Any]]:
    """As `read_rows`, without rows that hold what Python cannot, such as a time of infinity."""
    try:
        return read_rows(connection, kind, keys, times)
    except psycopg.DataError:
        if len(keys) == 1:
            return {}
    half = len(keys) // 2
    first, second = (None, None) if times is None else (times[:half], times[half:])
    return _readable(connection, kind, keys[:half], first) | _readable(connection, kind, keys[half:], second)


def _sealed_as(record: Record, leaf: Leaf) -> bytes:
    """The body that the leaf would have if it were of this record."""
    return leaf_body({**record, **of_leaf(leaf.kind, leaf.body)}, leaf.sealed_at)


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
    connection: psycopg.Connection, kind: Kind, unequal: Sequence[_Unequal], accounts: Accounts, queue_key: bytes | None
) -> Iterator[RowComparison]:
    """Says of each pair, all of one kind, what accounts for the difference, or that it was changed."""
    well_formed = []
    for pair in unequal:
        if problem := malformed(pair.leaf):
            yield _compared(pair, accounts, _finding(Fault.LEAF, pair.leaf, f"leaf {pair.leaf.number}: {problem}"))
        else:
            well_formed.append(pair)
    if well_formed:
        trail = _Trail(connection, kind, well_formed, accounts, queue_key)
        for pair in well_formed:
            try:
                found = trail.judge(pair)
            except (KeyError, TypeError, ValueError):
                found = _finding(Fault.LEAF, pair.leaf, f"leaf {pair.leaf.number}: its body does not fit its kind")
            yield (
                _compared(pair, accounts, found)
                if not isinstance(found, Removed)
                else RowComparison(
                    leaf=pair.leaf, row=pair.row, record=pair.record, state=Stored.REMOVED, removed=found
                )
            )


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


class _Later(NamedTuple):
    """What follows a leaf of the same row: a leaf, or an entry that waits to be sealed, which has no `number`.

    `record` is None where the entry only names the row, which is read when it is sealed.
    """

    number: int | None
    record: Record | None


class _Trail:
    """What the trail says about some unequal rows of one kind, with one query for all of them."""

    def __init__(
        self,
        connection: psycopg.Connection,
        kind: Kind,
        pairs: Sequence[_Unequal],
        accounts: Accounts,
        queue_key: bytes | None,
    ) -> None:
        self._kind = kind
        self._accounts = accounts
        self._said: defaultdict[Key, list[_Later]] = defaultdict(list)  # of each row, in its order
        keys = [list(column) for column in zip(*(pair.leaf.key for pair in pairs), strict=True)]
        for *key, number, body in connection.execute(_LEAVES_OF_KEYS, (*keys, kind)):
            app, subject, part = key
            self._said[app, subject, part].append(_Later(number, _parsed(body)))
        self._verdicts: dict[tuple[str, str], str] = {}  # of the newest live assessment
        self._stored_at: dict[tuple[str, str], datetime] = {}
        self._elsewhere: set[Key] = set()
        self._interactions: set[tuple[str, str]] = set()
        if missing := [pair.leaf for pair in pairs if pair.row is None]:
            self._read_missing(connection, missing)
        if queue_key is not None:
            self._read_waiting(connection, sorted({pair.leaf.key[:2] for pair in pairs}), queue_key)

    def _read_waiting(
        self, connection: psycopg.Connection, interactions: Sequence[tuple[str, str]], queue_key: bytes
    ) -> None:
        columns = [list(column) for column in zip(*interactions, strict=True)]
        for source, number, mac, *rest in connection.execute(_WAITING, columns).fetchall():
            entry = Entry(*rest)
            if not is_authentic(queue_key, entry, source, number, mac):
                continue
            for record in map(_parsed, (entry.records or "").split("\n")):
                if record is None and entry.kind == self._kind:
                    self._said[entry.app, entry.subject, entry.part].append(_Later(None, None))
                    continue
                if record is not None and record.get("kind") == Kind.ASSESSMENT and record.get("live"):
                    self._verdicts[entry.app, entry.subject] = str(record["verdict"])
                if record is not None and record.get("kind") == self._kind:
                    self._said[entry.app, entry.subject, leaf_part(record)].append(_Later(None, record))

    def _read_missing(self, connection: psycopg.Connection, leaves: Sequence[Leaf]) -> None:
        interactions = sorted({leaf.key[:2] for leaf in leaves})
        columns = [list(column) for column in zip(*interactions, strict=True)]
        for app, subject, leaf_kind, body in connection.execute(_LEAVES_OF_MISSING, columns):
            if leaf_kind == Kind.ASSESSMENT and (verdict := _live_verdict(body)):
                self._verdicts[app, subject] = verdict
            if leaf_kind == Kind.INTERACTION and (stored_at := _stored_instead(body)):
                self._stored_at[app, subject] = stored_at
        self._elsewhere = set(_readable(connection, self._kind, [leaf.key for leaf in leaves]))
        if self._kind != Kind.INTERACTION:
            keys = [((leaf.app, leaf.subject, ""), occurred(leaf.body)) for leaf in leaves]
            timed = [(key, at) for key, at in keys if at is not None]
            gone = [key for key, at in keys if at is None]  # when it was sealed, so that it does not say
            found = [*_readable(connection, Kind.INTERACTION, gone)]
            found += _readable(connection, Kind.INTERACTION, [key for key, _ in timed], [at for _, at in timed])
            self._interactions = {key[:2] for key in found}

    def judge(self, pair: _Unequal) -> Finding | Removed | None:
        """What is wrong with the row, or what was removed; None where an erasure or a revision accounts for it."""
        leaf, record = pair.leaf, json.loads(pair.leaf.body)
        later = [said for said in self._said[leaf.key] if said.number is None or said.number > leaf.number]
        if pair.row is None:
            return self._missing(leaf, record, is_newest=not later)
        if record.get("gone"):
            return None if later else self._stored_again(pair)
        if later:
            return self._followed(pair, record, later)
        if pair.row[SECRET] is None:
            return self._without_secret(pair, record)
        if (leaf.app, leaf.subject) in self._accounts.erased:
            return _finding(Fault.SECRET, leaf, f"{_named(leaf)} was erased, and its secret is stored")
        return self._changed(pair, record)

    def _missing(self, leaf: Leaf, record: Record, *, is_newest: bool) -> Finding | Removed | None:
        interaction = leaf.app, leaf.subject
        if record.get("gone") and interaction in self._accounts.erased:
            return None
        if is_newest and leaf.key in self._elsewhere:
            return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} is stored at another time than the sealed one")
        if interaction in self._interactions:
            return _finding(Fault.MISSING, leaf, f"{_named(leaf)} is not stored, and its interaction is")
        gone = self._removed(leaf, record)
        if self._accounts.removed(gone):
            return gone
        return _finding(Fault.MISSING, leaf, f"{_named(leaf)} is not stored at its time, and no retention says why")

    def _removed(self, leaf: Leaf, record: Record) -> Removed:
        if record.get("gone"):
            return Removed(app=leaf.app, number=leaf.number)
        interaction, occurred_at = (leaf.app, leaf.subject), datetime.fromisoformat(str(record["occurred_at"]))
        return Removed(
            app=leaf.app,
            number=leaf.number,
            occurred_at=occurred_at,
            kept_from=self._stored_at.get(interaction) or occurred_at,
            verdict=self._verdicts.get(interaction),
        )

    def _stored_again(self, pair: _Unequal) -> Finding | None:
        if self._is_erased(pair):
            return None
        leaf = pair.leaf
        return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} was gone when it was sealed, and is stored now")

    def _followed(self, pair: _Unequal, record: Record, later: Sequence[_Later]) -> Finding | Removed | None:
        """Checks that what follows a leaf says why, and, where all of it still waits, that the row is what waits."""
        following, newest = later[0], later[-1].record
        finding = None
        if following.number is None and newest is not None:
            waits = {name: value for name, value in newest.items() if name not in OF_LEAF}
            if _record(self._kind, pair.row, int(str(newest["v"]))) not in (None, waits):
                finding = self._changed(pair, newest)
        if finding is not None or self._follows(record, following.record):
            return finding
        gone = self._removed(pair.leaf, record)
        if following.number is not None and self._accounts.removed(gone, until=following.number):
            return gone  # and stored again since
        if self._kind == Kind.ASSESSMENT and (following.record is None or ENTRY not in record):
            return self._revised(pair, record)  # earlier releases sealed without saying what a leaf follows from
        return _finding(
            Fault.CHANGED, pair.leaf, f"{_named(pair.leaf)} was replaced by another, which does not follow from it"
        )

    def _follows(self, record: Record, after: Record | None) -> bool:
        """Whether the record `after` says that it revises this one, or is of a rescore that became the live one."""
        if after is None:
            return False
        rescored = self._kind == Kind.ASSESSMENT and not record["live"] and bool(after.get("live"))
        return rescored or after.get(REVISES) == record_digest(record)

    def _is_erased(self, pair: _Unequal) -> bool:
        return pair.row is not None and pair.row[SECRET] is None and pair.leaf.key[:2] in self._accounts.erased

    def _without_secret(self, pair: _Unequal, record: Record) -> Finding | None:
        """Compares the public fields: without the secret the texts cannot be compared."""
        leaf = pair.leaf
        if not self._is_erased(pair):
            return _finding(Fault.SECRET, leaf, f"the secret of {_named(leaf)} is gone, and no erasure says why")
        if texts := [name for name in committed(record) if not _blank((pair.row or {}).get(name))]:
            return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} was erased, and has again: {', '.join(texts)}")
        return self._changed(pair, record, erased=True)

    def _revised(self, pair: _Unequal, record: Record) -> Finding | None:
        """Compares the leaf with what the row keeps of the assessment that was there before the revision."""
        leaf, row = pair.leaf, pair.row or {}
        if row[SECRET] is None:
            return None  # the texts are erased
        superseded = row["live"] and not record["live"]  # a rescore under a profile that became the live one
        if superseded or (row["revised_at"] is not None and record["revised_at"] is not None):
            return None  # of several revisions the row keeps only the state before the last one
        if row["revised_at"] is not None and isinstance(row["earlier"], dict):
            place = {name: row[name] for name in ("app", "id", "occurred_at", "live")}
            before = {**row["earlier"], **place, "revised_at": None, "earlier": None}
            try:
                made = row_record(self._kind, before, bytes(row[SECRET]), version_of(leaf.body))
                body = _sealed_as(made, leaf)
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


def _parsed(text: str) -> Record | None:
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


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
