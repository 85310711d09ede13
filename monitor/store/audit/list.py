"""Lists the audit trail for the dashboard: what was sealed lately, and what people did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Engine, text

from monitor.store.audit.acts import act_body
from monitor.store.audit_queue import STORED, Kind
from monitor.store.database import limited_read

PAGE = 30
LATEST = 20_000  # the newest leaves, among which the leaves of a day are counted
ACTS = tuple(kind for kind in Kind if kind not in STORED and kind not in {Kind.MISSING, Kind.POSITIONS})
_BUSY = "the database is busy; try again in a moment"
# `kind NOT IN …` is worded as in the partial index `audit_leaf_acts`, so that it is used: there may be millions of rows
# between two acts.
_KINDS = text("""
    SELECT kind, count(*) AS leaves FROM audit_leaf
    WHERE index >= (SELECT coalesce(max(index), 0) FROM audit_leaf) - :most AND sealed_at >= :since
    GROUP BY kind ORDER BY leaves DESC, kind
""")
_SEALED = text("""
    SELECT index, kind, app, subject, body, sealed_at FROM audit_leaf
    WHERE kind NOT IN ('interaction', 'assessment', 'judgement', 'positions')
        AND index < :before AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    ORDER BY index DESC LIMIT :most
""")
_WAITING = text("""
    SELECT kind, app, subject, records, body FROM audit_queue
    WHERE kind NOT IN ('interaction', 'assessment', 'judgement', 'positions')
        AND kind <> 'missing' AND (CAST(:kind AS text) IS NULL OR kind = :kind)
    ORDER BY seq DESC LIMIT :most
""")
_NOTE = text("SELECT note FROM audit_checkpoint ORDER BY size DESC LIMIT 1")
_HIGHEST = 2**63 - 1
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAct:
    """Something that a person or the program did.

    `index` is the index of its leaf, None while it waits to be sealed; `body` holds all but `by` and `at`.
    """

    index: int | None
    sealed_at: datetime | None
    kind: str
    app: str
    subject: str
    by: str
    at: datetime | None
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActPage:
    """A page of acts, newest first; `older` is the `before` of the next one.

    With `more_waiting`, more wait to be sealed than the page holds.
    """

    acts: Sequence[ListedAct] = ()
    older: int | None = None
    more_waiting: bool = False


class AuditList:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def note(self) -> str | None:
        """The note of the last checkpoint."""
        with limited_read(self._engine, _BUSY) as connection:
            note: str | None = connection.scalar(_NOTE)
        return note

    def kinds(self, since: datetime) -> Mapping[str, int]:
        """How many of the newest `LATEST` leaves were sealed since then, by kind."""
        with limited_read(self._engine, _BUSY) as connection:
            rows = connection.execute(_KINDS, {"since": since, "most": LATEST})
            return {row.kind: row.leaves for row in rows}

    def acts(self, *, kind: str | None = None, before: int | None = None) -> ActPage:
        """The acts of one kind or of all; the first page also holds those that wait to be sealed.

        A page is of successive leaves, in the order of time: an act may be sealed long after it was done.
        """
        values = {"kind": kind, "most": PAGE + 1}
        with limited_read(self._engine, "name a kind") as connection:
            sealed = connection.execute(_SEALED, {**values, "before": _HIGHEST if before is None else before})
            found = [  # unpacked, because `.index` of a row is a method
                _listed((index, sealed_at), kind, app, subject, act_body(leaf))
                for index, kind, app, subject, leaf, sealed_at in sealed
            ]
            waiting = connection.execute(_WAITING, values).all() if before is None else ()
        shown = [_listed((None, None), row.kind, row.app, row.subject, _waiting_body(row)) for row in waiting[:PAGE]]
        older = found[PAGE - 1].index if len(found) > PAGE else None
        acts = sorted([*shown, *found[:PAGE]], key=_moment, reverse=True)
        return ActPage(acts=acts, older=older, more_waiting=len(waiting) > PAGE)


def _waiting_body(row: Any) -> Mapping[str, Any]:
    """What an act that waits says, from what will be sealed of it; an earlier release queued its body alone."""
    if row.records is not None:
        return act_body(row.records)
    return row.body if isinstance(row.body, dict) else {}


def _listed(
    leaf: tuple[int | None, datetime | None], kind: str, app: str, subject: str, body: Mapping[str, Any]
) -> ListedAct:
    index, sealed_at = leaf
    return ListedAct(
        index=index,
        sealed_at=sealed_at,
        kind=kind,
        app=app,
        subject=subject,
        by=str(body.get("by", "")),
        at=_time(body.get("at")),
        body={name: value for name, value in body.items() if name not in {"by", "at"}},
    )


def _moment(act: ListedAct) -> datetime:
    """When it was done, or at least sealed; what says neither comes first."""
    return act.at or act.sealed_at or _LATEST


def _time(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(str(value))
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None
