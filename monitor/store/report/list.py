"""Stored weekly reports as the dashboard lists them: with what their headline says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, and_, or_, select

from monitor.store.database import quick
from monitor.store.report.reports import WEEKLY
from monitor.store.tables.audit import report

PAGE = 30
_r = report.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """One report; `verdicts` is that section of its content."""

    app: str
    start: datetime
    made_at: datetime
    sent_at: datetime | None
    verdicts: Mapping[str, Any]


def headlines(
    engine: Engine, *, app: str | None = None, behind: tuple[datetime, str] | None = None
) -> Sequence[Headline]:
    """`PAGE` reports and one more where there are more: the newest weeks first, then by app.

    `behind` is the week's start and the app of the last one of the page before.

    Raises:
        Retriable: the database is out of reach, or this takes too long.
    """
    columns = (_r.app, _r.period_start.label("start"), _r.made_at, _r.sent_at, _r.content["verdicts"].label("verdicts"))
    query = select(*columns).where(_r.kind == WEEKLY).order_by(_r.period_start.desc(), _r.app).limit(PAGE + 1)
    if app is not None:
        query = query.where(_r.app == app)
    if behind is not None:
        start, last = behind
        query = query.where(or_(_r.period_start < start, and_(_r.period_start == start, _r.app > last)))
    with quick(engine, "name an app") as connection:
        return [Headline(**row) for row in connection.execute(query).mappings()]
