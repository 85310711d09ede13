"""Finds from the rollups when there were answers of an app, environment, model, topic, verdict, reason or diagnosis.

A list of rare answers then reads only the few minutes that hold any, and needs no index of its own for each filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

from sqlalchemy import ARRAY, ColumnElement, Connection, DateTime, Table, and_, func, literal, select, true

from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Verdict
from monitor.store.tables.interactions import OTHER, verdict_minute
from monitor.store.tables.signals import time_of, verdict_hour

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
_Row: TypeAlias = tuple[datetime, int, int]  # an hour or minute, its matching answers, and all its answers
_SMALLEST = timedelta(microseconds=1)
_WINDOWS = tuple(timedelta(hours=hours) for hours in (12, 96, 768, 9_000))  # read one after the other, then the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class RollupFilter:
    """Which answers count: those with these labels, by name, the reason, and one of the verdicts and diagnoses."""

    labels: tuple[tuple[str, str], ...] = ()
    verdicts: frozenset[Verdict] = frozenset()
    reason: Reason | None = None
    diagnoses: frozenset[Diagnosis] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class OccupiedSpans:
    """Spans [start, end) that hold all matching answers up to `through`, in the order of the list; None: to its end."""

    spans: tuple[tuple[datetime, datetime], ...]
    through: datetime | None


def pieces(
    connection: Connection,
    counted: RollupFilter,
    start: datetime,
    end: datetime,
    *,
    forward: bool,
    most: int,
    most_read: int | None = None,
) -> OccupiedSpans:
    """The minutes of [start, end) that hold the last `most` matching answers, or with `forward` the first.

    They end earlier if `most_read` answers have to be looked through for them. A label that is counted under OTHER may
    lead to more spans than needed, never to fewer.
    """
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    near = start if forward else end
    limits = _Limits(near=near, forward=forward, counted=most)
    hours, enough = _hours(connection, counted, start, end, limits)
    spans = [(max(_floor(max(hour, start), MINUTE), hour), min(hour + HOUR, end)) for hour, _, _ in hours]
    minutes: list[_Row] = []
    enough_minutes = False
    if spans:
        limits = replace(limits, read=most_read)
        minutes, enough_minutes = limits.enough(_counts(connection, verdict_minute, counted, spans, limits), MINUTE)
    through = limits.far(minutes, MINUTE) if enough_minutes else limits.far(hours, HOUR) if enough else None
    return _found(minutes, MINUTE, start, end, through)


def hours(
    connection: Connection,
    counted: RollupFilter,
    start: datetime,
    end: datetime,
    *,
    forward: bool,
    most: int,
    most_read: int,
) -> OccupiedSpans:
    """The hours of [start, end) that hold `most` matching answers, or `most_read` answers to look through."""
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    limits = _Limits(near=start if forward else end, forward=forward, counted=most, read=most_read)
    found, enough = _hours(connection, counted, start, end, limits)
    return _found(found, HOUR, start, end, limits.far(found, HOUR) if enough else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Limits:
    """How many matching answers are enough, or how many answers may be read for them, from `near` on."""

    near: datetime
    forward: bool
    counted: int
    read: int | None = None

    def enough(self, rows: Sequence[_Row], unit: timedelta) -> tuple[list[_Row], bool]:
        """The first rows that are enough, and whether they are.

        The row that contains `near` does not count: its answers may lie on the other side of `near`.
        """
        kept: list[_Row] = []
        counted = read = 0
        for at, number, total in rows:
            kept.append((at, number, total))
            if not at < self.near < at + unit:
                counted, read = counted + number, read + total
            if counted >= self.counted or (self.read is not None and read >= self.read):
                return kept, True
        return kept, False

    def far(self, rows: Sequence[_Row], unit: timedelta) -> datetime:
        """The end of the last row, in the direction of the search."""
        return rows[-1][0] + (unit if self.forward else timedelta())


def _found(
    rows: Sequence[_Row], unit: timedelta, start: datetime, end: datetime, through: datetime | None
) -> OccupiedSpans:
    spans = tuple((max(at, start), min(at + unit, end)) for at, _, _ in rows)
    return OccupiedSpans(
        spans=_joined(spans), through=through if through is not None and start < through < end else None
    )


def _hours(
    connection: Connection, counted: RollupFilter, start: datetime, end: datetime, limits: _Limits
) -> tuple[list[_Row], bool]:
    """The nearest hours that are enough, and whether they are; reads the nearest first."""
    first, last = _floor(start, HOUR), _floor(end + HOUR - _SMALLEST, HOUR)
    found: list[_Row] = []
    enough = False
    for window in (*_WINDOWS, last - first):
        if first < last and not enough:
            length = min(window, last - first)
            span = (first, first + length) if limits.forward else (last - length, last)
            first, last = (span[1], last) if limits.forward else (first, span[0])
            found, enough = limits.enough([*found, *_counts(connection, verdict_hour, counted, [span], limits)], HOUR)
    return found, enough


def _counts(
    connection: Connection,
    table: Table,
    counted: RollupFilter,
    spans: Sequence[tuple[datetime, datetime]],
    limits: _Limits,
) -> list[_Row]:
    """The hours or minutes with matching answers, in the direction of the search."""
    at = time_of(table)
    times = ARRAY(DateTime(timezone=True))
    span = (
        func.unnest(literal([a for a, _ in spans], times), literal([b for _, b in spans], times))
        .table_valued("start", "end", name="span")
        .render_derived()
    )
    ours = [table.c[label].in_((value, OTHER)) for label, value in counted.labels]
    number: ColumnElement[int] = func.sum(_number(table, counted))
    total: ColumnElement[int] = literal(0)
    if limits.read is not None:
        number, total = func.coalesce(number.filter(and_(true(), *ours)), 0), func.sum(table.c.total)
        ours = []
    # Grouped within each span, so that the planner cannot turn the join around and read the table for every span.
    of_span = (
        select(at.label("at"), number.label("number"), total.label("total"))
        .where(at >= span.c.start, at < span.c.end, *ours)
        .group_by(at)
        .having(number > 0)
        .lateral("counted")
    )
    c = of_span.c
    order = c.at.asc() if limits.forward else c.at.desc()
    query = select(c.at, c.number, c.total).select_from(span.join(of_span, true())).order_by(order)
    return [(moment, int(n), int(read)) for moment, n, read in connection.execute(query)]


def _number(table: Table, counted: RollupFilter) -> ColumnElement[int]:
    """An upper bound of the matching answers in a row."""
    bounds: list[ColumnElement[int]] = []
    reasons = frozenset[Reason]() if counted.reason is None else frozenset({counted.reason})
    for names in (counted.verdicts, reasons, counted.diagnoses):
        if names:
            first, *others = (table.c[name] for name in sorted(map(str, names)))
            bounds.append(sum(others, first))
    return func.least(*bounds) if bounds else table.c.total


def _joined(spans: Sequence[tuple[datetime, datetime]]) -> tuple[tuple[datetime, datetime], ...]:
    """Joins adjacent spans."""
    found: list[tuple[datetime, datetime]] = []
    for start, end in spans:
        if found and found[-1][0] == end:
            found[-1] = (start, found[-1][1])
        elif found and found[-1][1] == start:
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(found)


def _floor(moment: datetime, unit: timedelta) -> datetime:
    return moment - (moment - datetime(1970, 1, 1, tzinfo=UTC)) % unit
