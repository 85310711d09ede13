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
from monitor.store.tables.signals import verdict_hour

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
_Row: TypeAlias = tuple[datetime, int, int]  # an hour or minute, its matching answers, and all its answers
_LABELS = ("app", "environment", "model", "topic")
_ENDS = (("first", func.min), ("last", func.max))
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
    limits = _Limits(near=start if forward else end, forward=forward, counted=most)
    hours, enough = _hours(connection, counted, start, end, limits)
    minutes: list[_Row] = []
    enough_minutes = False
    if hours:
        span = _floor(start, MINUTE), end
        found = _counted_minutes(connection, counted, [hour for hour, _, _ in hours], span, limits)
        minutes, enough_minutes = limits.enough(found, MINUTE)
    if minutes and most_read is not None:
        limits = replace(limits, read=most_read)
        minutes, enough_minutes = limits.enough(_with_totals(connection, minutes), MINUTE)
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
            found, enough = limits.enough([*found, *_counted_hours(connection, counted, *span, limits)], HOUR)
    return found, enough


def _counted_hours(
    connection: Connection, counted: RollupFilter, start: datetime, end: datetime, limits: _Limits
) -> list[_Row]:
    """The hours of [start, end) with matching answers, in the direction of the search."""
    c = verdict_hour.c
    ours = _labelled(verdict_hour, counted)
    number: ColumnElement[int] = func.sum(_number(verdict_hour, counted))
    total: ColumnElement[int] = literal(0)
    if limits.read is not None:
        number, total = func.coalesce(number.filter(and_(true(), *ours)), 0), func.sum(c.total)
        ours = []
    query = select(c.hour, number, total).where(c.hour >= start, c.hour < end, *ours)
    found = query.group_by(c.hour).having(number > 0).order_by(c.hour.asc() if limits.forward else c.hour.desc())
    return [(hour, int(n), int(read)) for hour, n, read in connection.execute(found)]


def _counted_minutes(
    connection: Connection,
    counted: RollupFilter,
    hours: Sequence[datetime],
    span: tuple[datetime, datetime],
    limits: _Limits,
) -> list[_Row]:
    """The minutes of `span` in these hours with matching answers, in the direction of the search.

    Few rows of an hour hold rare answers, and those tell with which labels: between the first and the last of them, as
    the key of a minute has them too, so that the others are passed over in its index.
    """
    h, m = verdict_hour.c, verdict_minute.c
    hour = func.unnest(literal(hours, ARRAY(DateTime(timezone=True)))).table_valued("at", name="hour").render_derived()
    bounds = (
        select(*(end_of(h[label]).label(f"{name}_{label}") for label in _LABELS for name, end_of in _ENDS))
        .where(h.hour == hour.c.at, _number(verdict_hour, counted) > 0, *_labelled(verdict_hour, counted))
        .lateral("bounds")
    )
    within = (m[label].between(bounds.c[f"first_{label}"], bounds.c[f"last_{label}"]) for label in _LABELS)
    number: ColumnElement[int] = func.sum(_number(verdict_minute, counted))
    # Grouped within each hour, so that the planner cannot turn the join around and read the table for every hour.
    of_hour = (
        select(m.minute, number.label("number"))
        .where(m.minute >= hour.c.at, m.minute < hour.c.at + HOUR, *within, *_labelled(verdict_minute, counted))
        .where(m.minute >= span[0], m.minute < span[1])
        .group_by(m.minute)
        .having(number > 0)
        .lateral("of_hour")
    )
    c = of_hour.c
    query = select(c.minute, c.number).select_from(hour.join(bounds, true()).join(of_hour, true()))
    found = query.order_by(c.minute.asc() if limits.forward else c.minute.desc())
    return [(minute, int(n), 0) for minute, n in connection.execute(found)]


def _with_totals(connection: Connection, minutes: Sequence[_Row]) -> list[_Row]:
    """The same minutes, each with the number of all its answers."""
    m = verdict_minute.c
    query = select(m.minute, func.sum(m.total)).where(m.minute.in_([at for at, _, _ in minutes])).group_by(m.minute)
    totals = {at: int(total) for at, total in connection.execute(query)}
    return [(at, number, totals[at]) for at, number, _ in minutes]


def _labelled(table: Table, counted: RollupFilter) -> list[ColumnElement[bool]]:
    """The condition that a row may count answers with these labels."""
    return [table.c[label].in_((value, OTHER)) for label, value in counted.labels]


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
