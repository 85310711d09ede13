"""Why a leaf and its stored row differ: an erasure, a retention or a revision accounts for it, or it was changed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from monitor.audit.canonical import canonical
from monitor.audit.finding import Fault, Finding
from monitor.audit.record import Record, portable
from monitor.core.model import Json, Mark
from monitor.store.audit.rows import SECRET, Key, Leaf, leaf_body, part_of, row_record
from monitor.store.audit_queue import Kind

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
_TOLD = """
    SELECT l.app, l.subject, l.kind, l.body FROM unnest(%s::text[], %s::text[]) AS w (app, subject)
    JOIN audit_leaf l ON l.app = w.app AND l.subject = w.subject AND l.kind IN ('interaction', 'assessment')
    ORDER BY l.index
"""
_NO_SECRET = bytes(32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retained:
    """What one retention act accounts for: rows from before a time, of the app ('': all) and the verdict.

    None is any verdict, '' those that were not assessed.
    """

    app: str
    verdict: str | None
    before: datetime


@dataclass(frozen=True, kw_only=True)
class Accounts:
    """Which rows may be gone: erased interactions by app and id, and what retention removed."""

    erased: frozenset[tuple[str, str]] = frozenset()
    retained: tuple[Retained, ...] = ()

    def removed(self, app: str, occurred_at: datetime, verdict: str | None) -> bool:
        """Whether a retention accounts for such a row."""
        return any(
            one.app in {"", app} and occurred_at < one.before and one.verdict in {None, verdict or ""}
            for one in self.retained
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A leaf that the stored row, if there is one, does not give."""

    leaf: Leaf
    row: Mapping[str, Any] | None

    @property
    def key(self) -> Key:
        """Of the row."""
        return self.leaf.app, self.leaf.subject, self.leaf.part


def malformed(leaf: Leaf) -> str | None:
    """What is wrong with a leaf by itself: its form, or that its columns say other things than its body."""
    try:
        record = json.loads(leaf.body)
        same = canonical(record) == leaf.body.encode()
    except (ValueError, RecursionError):
        return "its body is no canonical JSON"
    if not same or not isinstance(record, dict):
        return "its body is no canonical JSON"
    told = (record.get("kind"), record.get("app"), record.get("id"), record.get("sealed_at"))
    if told != (leaf.kind, leaf.app, leaf.subject, portable(leaf.sealed_at)):
        return "its columns are not what its body says"
    try:
        return None if part_of(record) == leaf.part else "its columns are not what its body says"
    except KeyError:
        return "its body is not of its kind"


def doubted(
    connection: psycopg.Connection, kind: str, doubts: Sequence[Doubt], accounts: Accounts
) -> Iterator[Finding]:
    """What of the doubts is a fault; all of leaves of one kind."""
    formed = []
    for doubt in doubts:
        if problem := malformed(doubt.leaf):
            yield _finding(Fault.LEAF, doubt.leaf, f"leaf {doubt.leaf.number}: {problem}")
        else:
            formed.append(doubt)
    if formed:
        its = _Doubted(connection, kind, formed, accounts)
        for doubt in formed:
            if (found := its.judge(doubt)) is not None:
                yield found


class _Doubted:
    """What is known of some doubts together, read in one statement for all."""

    def __init__(self, connection: psycopg.Connection, kind: str, doubts: Sequence[Doubt], accounts: Accounts) -> None:
        keys = [list(column) for column in zip(*(doubt.key for doubt in doubts), strict=True)]
        rows = connection.execute(_NEWEST, (*keys, kind)).fetchall()
        self._kind = kind
        self._accounts = accounts
        self._newest = {(app, subject, part): index for app, subject, part, index in rows}
        self._queued = set(connection.execute(_QUEUED, (*keys, kind)).fetchall())
        self._verdicts: dict[tuple[str, str], str] = {}
        self._claimed: dict[tuple[str, str], datetime] = {}
        missing = sorted({doubt.key[:2] for doubt in doubts if doubt.row is None})
        if missing and accounts.retained:
            columns = [list(column) for column in zip(*missing, strict=True)]
            for app, subject, told, body in connection.execute(_TOLD, columns):
                if told == Kind.ASSESSMENT and (verdict := _live_verdict(body)):
                    self._verdicts[app, subject] = verdict
                if told == Kind.INTERACTION and (stored_at := _stored_instead(body)):
                    self._claimed[app, subject] = stored_at

    def judge(self, doubt: Doubt) -> Finding | None:
        leaf, row, record = doubt.leaf, doubt.row, json.loads(doubt.leaf.body)
        newest = self._newest[doubt.key] == leaf.number
        if row is None:
            return None if not newest or self._gone(leaf, record) else _finding(
                Fault.MISSING, leaf, f"{_named(leaf)} is not stored at its time, and no retention says why"
            )  # fmt: skip
        if record.get("gone"):
            return None if not newest or self._erased(doubt) else _finding(
                Fault.CHANGED, leaf, f"{_named(leaf)} was gone when it was sealed, and is stored now"
            )  # fmt: skip
        if row[SECRET] is None:
            return self._without_secret(doubt, record)
        if (leaf.app, leaf.subject) in self._accounts.erased and newest:
            return _finding(Fault.SECRET, leaf, f"{_named(leaf)} was erased, and its secret is stored")
        if self._kind == Kind.ASSESSMENT and (not newest or doubt.key in self._queued):
            return self._revised(doubt, record)
        return self._changed(doubt, record, bytes(row[SECRET]))

    def _gone(self, leaf: Leaf, record: Record) -> bool:
        """Whether it is accounted for that the row is not stored at its time."""
        if record.get("gone"):
            retained = any(one.app in {"", leaf.app} for one in self._accounts.retained)
            return retained or (leaf.app, leaf.subject) in self._accounts.erased
        its = leaf.app, leaf.subject
        occurred_at = self._claimed.get(its) or datetime.fromisoformat(str(record["occurred_at"]))
        return self._accounts.removed(leaf.app, occurred_at, self._verdicts.get(its))

    def _erased(self, doubt: Doubt) -> bool:
        return doubt.row is not None and doubt.row[SECRET] is None and doubt.key[:2] in self._accounts.erased

    def _without_secret(self, doubt: Doubt, record: Record) -> Finding | None:
        """Texts cannot be compared any more; what is public still can."""
        leaf = doubt.leaf
        if not self._erased(doubt):
            return _finding(Fault.SECRET, leaf, f"the secret of {_named(leaf)} is gone, and no erasure says why")
        if self._newest[doubt.key] != leaf.number:
            return None
        if texts := [name for name in _committed(record) if not _blank((doubt.row or {}).get(name))]:
            return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} was erased, and has again: {', '.join(texts)}")
        return self._changed(doubt, record, _NO_SECRET, erased=True)

    def _revised(self, doubt: Doubt, record: Record) -> Finding | None:
        """An assessment that another one took the place of, which keeps what it was before."""
        leaf, row = doubt.leaf, doubt.row or {}
        superseded = row["live"] and not record["live"]  # a rescore under what became the live profile
        if superseded or (row["revised_at"] is not None and record["revised_at"] is not None):
            return None  # of several revisions the row keeps the last but one
        if row["revised_at"] is not None and isinstance(row["earlier"], dict):
            place = {name: row[name] for name in ("app", "id", "occurred_at", "live")}
            before = {**row["earlier"], **place, "revised_at": None, "earlier": None}
            try:
                made = leaf_body(row_record(self._kind, before, bytes(row[SECRET])), leaf.sealed_at)
            except (KeyError, TypeError, ValueError):
                made = b""
            if made == leaf.body.encode():
                return None
        return _finding(
            Fault.CHANGED, leaf, f"{_named(leaf)} was changed: it does not say what it was before it was revised"
        )

    def _changed(self, doubt: Doubt, record: Record, secret: bytes, *, erased: bool = False) -> Finding | None:
        leaf, row = doubt.leaf, dict(doubt.row or {})
        if erased and "marks" in row:
            row["marks"] = [mark for mark in row["marks"] if mark != Mark.ERASED]
        try:
            made = row_record(self._kind, row, secret)
        except (TypeError, ValueError) as error:
            return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} was changed: {error}")
        fields = [name for name in made if name != "committed" and made[name] != record.get(name)]
        if not erased:
            texts = _differing(_committed(made), _committed(record))
            if not fields and texts == list(_committed(made)):
                return _finding(Fault.SECRET, leaf, f"the secret of {_named(leaf)} was changed, or all of its texts")
            fields = fields + texts or ["something that should not be there"]
        if not fields:
            return None
        return _finding(Fault.CHANGED, leaf, f"{_named(leaf)} was changed: {', '.join(fields)}")


def _committed(record: Record) -> dict[str, Json]:
    committed = record.get("committed")
    return committed if isinstance(committed, dict) else {}


def _differing(made: dict[str, Json], sealed: dict[str, Json]) -> list[str]:
    return [name for name in made if made[name] != sealed.get(name)]


def _blank(value: Any) -> bool:
    """Whether erasure left it so: without any text but who gave the support; figures stay."""
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
    """When an interaction was stored, if retention goes by that: it is marked, and claims to be from later."""
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


def accounts_of(acts: Sequence[tuple[int | None, str, str, str, dict[str, Any]]]) -> Accounts:
    """What erasures and retentions account for; `acts` as `told_acts` gives them."""
    by_kind = defaultdict(list)
    for _, kind, app, subject, body in acts:
        by_kind[kind].append((app, subject, body))
    retained = []
    for app, _, body in by_kind[Kind.RETENTION]:
        try:
            before = datetime.fromisoformat(str(body.get("before")))
        except ValueError:
            continue
        verdict = body.get("verdict")
        before = before if before.tzinfo else before.replace(tzinfo=UTC)
        retained.append(Retained(app=app, verdict=None if verdict is None else str(verdict), before=before))
    erased = frozenset((app, subject) for app, subject, _ in by_kind[Kind.ERASURE])
    return Accounts(erased=erased, retained=tuple(retained))
