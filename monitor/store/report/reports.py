"""Stores written reports, one row per kind, app and period, and lists them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, and_, or_, select, text, update
from sqlalchemy.dialects import postgresql

from monitor.core.model import Json
from monitor.report.weekly.content import digest
from monitor.store.database import advisory_lock, limited_read, retriable
from monitor.store.tables.audit import report

WEEKLY = "weekly"
PAGE = 30  # headlines
REPORTER_LOCK = 7_305_107
_QUOTED = ("question", "answer", "first_words")  # texts of an interaction, in an object that has its `id` too
_CHUNK = 20  # reports in memory at a time
_STORED = text("""
    SELECT id FROM interaction WHERE app = :app AND id = ANY(CAST(:ids AS text[])) AND NOT 'erased' = ANY(marks)
    ORDER BY id FOR SHARE
""")
_r = report.c


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReport:
    """A report as it was stored; `digest` is of its content."""

    app: str
    start: datetime
    end: datetime
    made_at: datetime
    digest: str
    content: Mapping[str, Json]
    sent_at: datetime | None

    @property
    def intact(self) -> bool:
        """Whether the content still has this digest."""
        return digest(self.content) == self.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedReport:
    """A report without its content, for a list."""

    app: str
    start: datetime
    end: datetime
    made_at: datetime
    digest: str
    sent_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """One report for a list; `verdicts` is that section of its content."""

    app: str
    start: datetime
    made_at: datetime
    sent_at: datetime | None
    verdicts: Mapping[str, Any]


class Reports:
    """Stored weekly reports; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def reporting(self) -> AbstractContextManager[bool]:
        """Tries to be the only process that reports, for the block; yields whether it is."""
        return advisory_lock(self._engine, REPORTER_LOCK)

    def listed(self, *, app: str | None = None, limit: int = 100) -> list[ListedReport]:
        """Reports without their content, the newest weeks first, then by app."""
        columns = (_r.app, _r.period_start, _r.period_end, _r.made_at, _r.digest, _r.sent_at)
        query = select(*columns).where(_r.kind == WEEKLY).order_by(_r.period_start.desc(), _r.app).limit(limit)
        if app is not None:
            query = query.where(_r.app == app)
        with retriable(), self._engine.connect() as connection:
            return [
                ListedReport(
                    app=row.app,
                    start=row.period_start,
                    end=row.period_end,
                    made_at=row.made_at,
                    digest=row.digest,
                    sent_at=row.sent_at,
                )
                for row in connection.execute(query)
            ]

    def get(self, app: str, start: datetime) -> StoredReport | None:
        """The report of the app and the week that begins at `start`."""
        query = select(report).where(_r.kind == WEEKLY, _r.app == app, _r.period_start == start)
        with retriable(), self._engine.connect() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else _stored(row)

    def keep(
        self, content: Mapping[str, Json], *, app: str, start: datetime, end: datetime, now: datetime
    ) -> dict[str, Json]:
        """Stores a report, in place of an earlier one of the same week, whose `sent_at` stays.

        Returns the stored content, without the texts of interactions that were erased or removed since they were read.
        """
        with retriable(), self._engine.begin() as connection:
            stored = _without(content, _gone(connection, app, content))
            values = {
                "kind": WEEKLY,
                "app": app,
                "period_start": start,
                "period_end": end,
                "made_at": now,
                "digest": digest(stored),
                "content": stored,
            }
            write = postgresql.insert(report).values(values)
            changed = {name: write.excluded[name] for name in ("period_end", "made_at", "digest", "content")}
            keys = ["kind", "app", "period_start"]
            connection.execute(write.on_conflict_do_update(index_elements=keys, set_=changed))
        return stored

    def sent(self, app: str, start: datetime, now: datetime) -> None:
        """Stores when the report was sent."""
        which = (_r.kind == WEEKLY, _r.app == app, _r.period_start == start)
        with retriable(), self._engine.begin() as connection:
            connection.execute(update(report).where(*which).values(sent_at=now))


def headlines(
    engine: Engine, *, app: str | None = None, behind: tuple[datetime, str] | None = None
) -> Sequence[Headline]:
    """`PAGE` reports, and one more where there are more: the newest weeks first, then by app.

    `behind` is the start of the week and the app of the last report of the page before.

    Raises:
        Retriable: the database is out of reach, or this takes too long.
    """
    chosen = select(_r.app, _r.period_start).where(_r.kind == WEEKLY).limit(PAGE + 1)
    if app is not None:
        chosen = chosen.where(_r.app == app)
    if behind is not None:
        start, last = behind
        chosen = chosen.where(or_(_r.period_start < start, and_(_r.period_start == start, _r.app > last)))
    # Contents are large, and Postgres would read that of every report before it sorts them.
    keys = chosen.order_by(_r.period_start.desc(), _r.app).subquery("keys").c
    columns = (_r.app, _r.period_start.label("start"), _r.made_at, _r.sent_at, _r.content["verdicts"].label("verdicts"))
    which = (_r.kind == WEEKLY, _r.app == keys.app, _r.period_start == keys.period_start)
    query = select(*columns).where(*which).order_by(_r.period_start.desc(), _r.app)
    with limited_read(engine, "name an app") as connection:
        return [Headline(**row) for row in connection.execute(query).mappings()]


def blank_reported(connection: Connection, app: str, ids: Collection[str]) -> int:
    """Takes the texts of these interactions out of stored reports; returns how many reports changed.

    Figures stay, and the digest becomes that of the remaining content.
    """
    wanted, changed = set(ids), 0
    query = select(report).where(_r.kind == WEEKLY, _r.app == app).order_by(_r.period_start).with_for_update()
    for row in connection.execute(query.execution_options(yield_per=_CHUNK)):
        left = _without(row.content, wanted)
        if left != row.content:
            which = (_r.kind == WEEKLY, _r.app == app, _r.period_start == row.period_start)
            connection.execute(update(report).where(*which).values(content=left, digest=digest(left)))
            changed += 1
    return changed


def _gone(connection: Connection, app: str, content: Mapping[str, Any]) -> set[str]:
    """The interactions that the report shows and that are no longer stored or were erased.

    The rows of the others are locked until the transaction ends, so that a later erasure finds the report.
    """
    shown = set(_shown(content))
    stored = connection.scalars(_STORED, {"app": app, "ids": sorted(shown)})
    return shown - set(stored)


def _shown(value: Any) -> Iterator[str]:
    """The ids of the interactions that are quoted anywhere in it."""
    if isinstance(value, Mapping):
        if _quotes(value):
            yield value["id"]
        value = value.values()
    elif not isinstance(value, list):
        return
    for part in value:
        yield from _shown(part)


def _without(content: Mapping[str, Any], ids: set[str]) -> dict[str, Any]:
    return {name: _blanked(part, ids) for name, part in content.items()}


def _blanked(value: Any, ids: set[str]) -> Any:
    """The same without the texts of these interactions."""
    if isinstance(value, list):
        return [_blanked(part, ids) for part in value]
    if not isinstance(value, Mapping):
        return value
    gone = _quotes(value) and value["id"] in ids
    return {name: "" if gone and name in _QUOTED else _blanked(part, ids) for name, part in value.items()}


def _quotes(value: Mapping[str, Any]) -> bool:
    return "id" in value and any(name in value for name in _QUOTED)


def _stored(row: Row[Any]) -> StoredReport:
    return StoredReport(
        app=row.app,
        start=row.period_start,
        end=row.period_end,
        made_at=row.made_at,
        digest=row.digest,
        content=row.content,
        sent_at=row.sent_at,
    )
