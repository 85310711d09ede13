"""The audit trail as the dashboard lists it: what was sealed lately, and what people did."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, text

from monitor.store.audit_queue import STORED, Kind
from monitor.store.database import quick

PAGE = 30
LATEST = 20_000  # leaves among which those of a day are counted
ACTS = tuple(kind for kind in Kind if kind not in STORED and kind is not Kind.MISSING)
_BUSY = "the database is busy; try again in a moment"
# In the words of the partial index of migration 0009, so that it is used: millions of rows may stand between acts.
_IS_ACT = "kind NOT IN ('interaction', 'assessment', 'judgement')"
_KINDS = text("""
    SELECT kind, count(*) AS leaves FROM audit_leaf
    WHERE index >= (SELECT coalesce(max(index), 0) FROM audit_leaf) - :most AND sealed_at >= :since
    GROUP BY kind ORDER BY leaves DESC, kind
""")
_SEALED = f"""
    SELECT index, kind, app, subject, body FROM audit_leaf
    WHERE {_IS_ACT} AND index < :before AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    ORDER BY index DESC LIMIT :most
"""  # noqa: S608  our own words
_WAITING = f"""
    SELECT kind, app, subject, body FROM audit_queue
    WHERE {_IS_ACT} AND kind <> 'missing' AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    ORDER BY seq DESC LIMIT :most
"""  # noqa: S608
_NOTE = text("SELECT note FROM audit_checkpoint ORDER BY size DESC LIMIT 1")
_HIGHEST = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Something that somebody did; `index` is its leaf's, None while it waits to be sealed; `body` says the rest."""

    index: int | None
    kind: str
    app: str
    subject: str
    by: str
    at: datetime | None
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActPage:
    """A page of acts, newest first; `older` is the `before` of the next one."""

    acts: Sequence[Done]
    older: int | None


class AuditList:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self) -> str | None:
        """The last checkpoint's."""
        with quick(self._engine, _BUSY) as connection:
            note: str | None = connection.scalar(_NOTE)
        return note

    def kinds(self, since: datetime) -> Mapping[str, int]:
        """How many leaves of each kind were sealed since then, among the newest `LATEST`."""
        with quick(self._engine, _BUSY) as connection:
            rows = connection.execute(_KINDS, {"since": since, "most": LATEST})
            return {kind: leaves for kind, leaves in rows}  # noqa: C416  of rows, which dict() would not take for pairs

    def acts(self, *, kind: str | None = None, before: int | None = None) -> ActPage:
        """What people did, of one kind only or all; the first page begins with what waits to be sealed."""
        values = {"kind": kind, "most": PAGE + 1}
        with quick(self._engine, "name a kind") as connection:
            sealed = connection.execute(text(_SEALED), {**values, "before": _HIGHEST if before is None else before})
            found = [  # `.index` of a row is its method
                _done(index, kind, app, subject, _body(leaf)) for index, kind, app, subject, leaf in sealed
            ]
            waiting = connection.execute(text(_WAITING), values).all() if before is None else ()
        shown = [_done(None, row.kind, row.app, row.subject, row.body or {}) for row in waiting[:PAGE]]
        older = found[PAGE - 1].index if len(found) > PAGE else None
        return ActPage(acts=[*shown, *found[:PAGE]], older=older)


def _done(index: int | None, kind: str, app: str, subject: str, body: Mapping[str, Any]) -> Done:
    said = {name: value for name, value in body.items() if name not in {"by", "at"}}
    return Done(
        index=index,
        kind=kind,
        app=app,
        subject=subject,
        by=str(body.get("by", "")),
        at=_time(body.get("at")),
        body=said,
    )


def _body(leaf: str) -> Mapping[str, Any]:
    """What an act's leaf says; nothing where somebody made something else of it."""
    try:
        body = json.loads(leaf)["body"]
    except (ValueError, KeyError, TypeError):
        return {}
    return body if isinstance(body, dict) else {}


def _time(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None
