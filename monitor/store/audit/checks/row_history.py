"""What the trail says about rows that are not what a leaf says: what followed, what may be missing, what is wrong."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import psycopg

from monitor.audit.finding import Fault, Finding
from monitor.audit.record import Record
from monitor.core.model import Mark
from monitor.store.audit.checks.accounts import Accounts, Removed
from monitor.store.audit.checks.leaf_and_row import (
    UnequalRow,
    finding_at,
    named,
    public_differences,
    readable,
    record_of,
    sealed_as,
    text_differences,
)
from monitor.store.audit.leaf import (
    ENTRY,
    Leaf,
    committed,
    leaf_part,
    live_verdict,
    occurred,
    parsed,
    revises,
    stored_instead,
    version_of,
)
from monitor.store.audit_queue import Entry, Kind, is_authentic
from monitor.store.audit_rows import OF_LEAF, REVISES, SECRET, Key, record_digest, row_record

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
_REVISIONS = """
    SELECT l.app, l.subject, l.index, l.body FROM unnest(%s::text[], %s::text[]) AS w (app, subject)
    JOIN audit_leaf l ON l.app = w.app AND l.subject = w.subject AND l.kind = 'interaction'
"""
_NO_SECRET = bytes(32)
_WAITS = 2**63  # the place of what waits to be sealed: after every leaf


class _Later(NamedTuple):
    """What follows a leaf of the same row: a leaf, or an entry that waits to be sealed, which has no `number`.

    `record` is None where the entry only names the row, which is read when it is sealed.
    """

    number: int | None
    record: Record | None


class RowHistory:
    """What the trail says about some unequal rows of one kind, with one query for all of them."""

    def __init__(
        self,
        connection: psycopg.Connection,
        kind: Kind,
        pairs: Sequence[UnequalRow],
        accounts: Accounts,
        queue_key: bytes | None,
    ) -> None:
        self._kind = kind
        self._accounts = accounts
        self._said: defaultdict[Key, list[_Later]] = defaultdict(list)  # of each row, in its order
        keys = [list(column) for column in zip(*(pair.leaf.key for pair in pairs), strict=True)]
        for *key, number, body in connection.execute(_LEAVES_OF_KEYS, (*keys, kind)):
            app, subject, part = key
            self._said[app, subject, part].append(_Later(number, parsed(body)))
        self._verdicts: dict[tuple[str, str], str] = {}  # of the newest live assessment
        self._stored_at: dict[tuple[str, str], datetime] = {}
        self._elsewhere: set[Key] = set()
        self._interactions: set[tuple[str, str]] = set()
        if missing := [pair.leaf for pair in pairs if pair.row is None]:
            self._read_missing(connection, missing)
        self._revisions: defaultdict[tuple[str, str], list[int]] = defaultdict(list)  # their places, by interaction
        if kind == Kind.ASSESSMENT:
            columns = [list(column) for column in zip(*{pair.leaf.key[:2] for pair in pairs}, strict=True)]
            for app, subject, number, body in connection.execute(_REVISIONS, columns):
                if revises(body):
                    self._revisions[app, subject].append(number)
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
            for record in map(parsed, (entry.records or "").split("\n")):
                if record is None and entry.kind == self._kind:
                    self._said[entry.app, entry.subject, entry.part].append(_Later(None, None))
                    continue
                if record is not None and record.get("kind") == Kind.INTERACTION and REVISES in record:
                    self._revisions[entry.app, entry.subject].append(_WAITS)
                    self._verdicts.pop((entry.app, entry.subject), None)
                if record is not None and record.get("kind") == Kind.ASSESSMENT and record.get("live"):
                    self._verdicts[entry.app, entry.subject] = str(record["verdict"])
                if record is not None and record.get("kind") == self._kind:
                    self._said[entry.app, entry.subject, leaf_part(record)].append(_Later(None, record))

    def _read_missing(self, connection: psycopg.Connection, leaves: Sequence[Leaf]) -> None:
        interactions = sorted({leaf.key[:2] for leaf in leaves})
        columns = [list(column) for column in zip(*interactions, strict=True)]
        for app, subject, leaf_kind, body in connection.execute(_LEAVES_OF_MISSING, columns):
            if leaf_kind == Kind.ASSESSMENT and (verdict := live_verdict(body)):
                self._verdicts[app, subject] = verdict
            if leaf_kind == Kind.INTERACTION and revises(body):
                self._verdicts.pop((app, subject), None)  # of the texts before
            if leaf_kind == Kind.INTERACTION and (stored_at := stored_instead(body)):
                self._stored_at[app, subject] = stored_at
        self._elsewhere = set(readable(connection, self._kind, [leaf.key for leaf in leaves]))
        if self._kind != Kind.INTERACTION:
            keys = [((leaf.app, leaf.subject, ""), occurred(leaf.body)) for leaf in leaves]
            timed = [(key, at) for key, at in keys if at is not None]
            gone = [key for key, at in keys if at is None]  # when it was sealed, so that it does not say
            found = [*readable(connection, Kind.INTERACTION, gone)]
            found += readable(connection, Kind.INTERACTION, [key for key, _ in timed], [at for _, at in timed])
            self._interactions = {key[:2] for key in found}

    def judge(self, pair: UnequalRow) -> Finding | Removed | None:
        """What is wrong with the row, or what was removed; None where an erasure or a revision accounts for it."""
        leaf, record = pair.leaf, json.loads(pair.leaf.body)
        later = [said for said in self._said[leaf.key] if said.number is None or said.number > leaf.number]
        if pair.row is None:
            revised = leaf.kind == Kind.INTERACTION and later and self._follows(record, later[0].record)
            return None if revised else self._missing(leaf, record, is_newest=not later)
        if record.get("gone"):
            return None if later else self._stored_again(pair)
        if later:
            return self._followed(pair, record, later)
        if pair.row[SECRET] is None:
            return self._without_secret(pair, record)
        if (leaf.app, leaf.subject) in self._accounts.erased:
            return finding_at(Fault.SECRET, leaf, f"{named(leaf)} was erased, and its secret is stored")
        return self._changed(pair, record)

    def _missing(self, leaf: Leaf, record: Record, *, is_newest: bool) -> Finding | Removed | None:
        interaction = leaf.app, leaf.subject
        if record.get("gone") and interaction in self._accounts.erased:
            return None
        if is_newest and leaf.key in self._elsewhere:
            return finding_at(Fault.CHANGED, leaf, f"{named(leaf)} is stored at another time than the sealed one")
        if self._replaced(leaf):
            return None
        if interaction in self._interactions:
            return finding_at(Fault.MISSING, leaf, f"{named(leaf)} is not stored, and its interaction is")
        gone = self._removed(leaf, record)
        if self._accounts.removed(gone):
            return gone
        is_gone = "is not stored at its time, or cannot be read, and no retention says why"
        return finding_at(Fault.MISSING, leaf, f"{named(leaf)} {is_gone}")

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

    def _stored_again(self, pair: UnequalRow) -> Finding | None:
        if self._is_erased(pair):
            return None
        leaf = pair.leaf
        return finding_at(Fault.CHANGED, leaf, f"{named(leaf)} was gone when it was sealed, and is stored now")

    def _followed(self, pair: UnequalRow, record: Record, later: Sequence[_Later]) -> Finding | Removed | None:
        """Checks that what follows a leaf says why, and, where all of it still waits, that the row is what waits."""
        following, newest = later[0], later[-1].record
        finding = None
        if following.number is None and newest is not None:
            waits = {name: value for name, value in newest.items() if name not in OF_LEAF}
            if record_of(self._kind, pair.row, int(str(newest["v"]))) not in (None, waits):
                finding = self._changed(pair, newest)
        if finding is not None or self._follows(record, following.record):
            return finding
        if self._replaced(pair.leaf, until=_WAITS if following.number is None else following.number):
            return None
        gone = self._removed(pair.leaf, record)
        if following.number is not None and self._accounts.removed(gone, until=following.number):
            return gone  # and stored again since
        if self._kind == Kind.ASSESSMENT and (following.record is None or ENTRY not in record):
            return self._revised(pair, record)  # earlier releases sealed without saying what a leaf follows from
        return finding_at(
            Fault.CHANGED, pair.leaf, f"{named(pair.leaf)} was replaced by another, which does not follow from it"
        )

    def _replaced(self, leaf: Leaf, until: int = _WAITS) -> bool:
        """Whether it is an assessment of texts that a revision of the interaction replaced, before leaf `until`."""
        return any(leaf.number < place <= until for place in self._revisions[leaf.key[:2]])

    def _follows(self, record: Record, after: Record | None) -> bool:
        """Whether the record `after` says that it revises this one, or is of a rescore that became the live one."""
        if after is None:
            return False
        rescored = self._kind == Kind.ASSESSMENT and not record["live"] and bool(after.get("live"))
        return rescored or after.get(REVISES) == record_digest(record)

    def _is_erased(self, pair: UnequalRow) -> bool:
        return pair.row is not None and pair.row[SECRET] is None and pair.leaf.key[:2] in self._accounts.erased

    def _without_secret(self, pair: UnequalRow, record: Record) -> Finding | None:
        """Compares the public fields: without the secret the texts cannot be compared."""
        leaf = pair.leaf
        if not self._is_erased(pair):
            return finding_at(Fault.SECRET, leaf, f"the secret of {named(leaf)} is gone, and no erasure says why")
        if texts := [name for name in committed(record) if not _blank((pair.row or {}).get(name))]:
            return finding_at(Fault.CHANGED, leaf, f"{named(leaf)} was erased, and has again: {', '.join(texts)}")
        return self._changed(pair, record, erased=True)

    def _revised(self, pair: UnequalRow, record: Record) -> Finding | None:
        """Compares the leaf with what the row keeps of the assessment that was there before the revision."""
        leaf, row = pair.leaf, pair.row or {}
        if row[SECRET] is None:
            return None  # the texts are erased
        superseded = row["live"] and not record["live"]  # a rescore under a profile that became the live one
        if superseded or (row["revised_at"] is not None and record["revised_at"] is not None):
            return None  # of several revisions, rows of earlier releases keep only the state before the last one
        if row["revised_at"] is not None and isinstance(row["earlier"], dict):
            place = {name: row[name] for name in ("app", "id", "occurred_at", "live")}
            first = row["earlier"]
            while isinstance(first.get("earlier"), dict):
                first = first["earlier"]
            before = {**first, **place, "revised_at": None, "earlier": None}
            try:
                made = row_record(self._kind, before, bytes(row[SECRET]), version_of(leaf.body))
                body = sealed_as(made, leaf)
            except (KeyError, TypeError, ValueError):
                body = b""
            if body == leaf.body.encode():
                return None
        return finding_at(
            Fault.CHANGED, leaf, f"{named(leaf)} was changed: it does not say what it was before it was revised"
        )

    def _changed(self, pair: UnequalRow, sealed: Record, *, erased: bool = False) -> Finding | None:
        leaf, row = pair.leaf, dict(pair.row or {})
        if erased and "marks" in row:
            row["marks"] = [mark for mark in row["marks"] if mark != Mark.ERASED]
        try:
            secret = _NO_SECRET if erased else bytes(row[SECRET])
            record = row_record(self._kind, row, secret, version_of(leaf.body))
        except (TypeError, ValueError) as error:
            return finding_at(Fault.CHANGED, leaf, f"{named(leaf)} was changed: {error}")
        fields = public_differences(record, sealed)
        if not erased:
            texts = text_differences(record, sealed)
            if not fields and texts == list(committed(record)):
                return finding_at(Fault.SECRET, leaf, f"the secret of {named(leaf)} was changed, or all of its texts")
            fields = fields + texts or ["something that should not be there"]
        if not fields:
            return None
        return finding_at(Fault.CHANGED, leaf, f"{named(leaf)} was changed: {', '.join(fields)}")


def _blank(value: Any) -> bool:
    """Whether an erasure left the value like this: without texts; the origin of support and figures stay."""
    if isinstance(value, dict):
        return all(name in {"origin", "features", "judge"} or _blank(item) for name, item in value.items())
    return not value
