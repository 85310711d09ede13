"""When there were answers of an app, environment, model, topic, verdict or reason: the rollups know without the rows.

So a list of what is rare reads the few minutes in which there was any, and no index has to be kept for each filter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import ARRAY, ColumnElement, Connection, DateTime, Table, func, literal, select

from monitor.model import Reason, Verdict
from monitor.store.rollup import OTHER
from monitor.store.tables import verdict_minute
from monitor.store.tables_signals import verdict_hour

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)
_SMALLEST = timedelta(microseconds=1)
_WINDOWS = tuple(
    timedelta(hours=hours) for hours in (12, 96, 768, 9_000)
)  # looked at one after the other, and the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the rollups are asked for: labels by name, and the verdicts or the reason that count."""

    labels: tuple[tuple[str, str], ...] = ()
    verdicts: frozenset[Verdict] = frozenset()
    reason: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Spans [start, end) beside which nothing is, in the order of the list; up to `through`, None: to its end."""

    spans: tuple[tuple[datetime, datetime], ...]
    through: datetime | None


def pieces(
    connection: Connection, counted: Counted, start: datetime, end: datetime, *, forward: bool, most: int
) -> Pieces:
    """Where in [start, end) `most` of what is counted lie, or more: next to its end, or `forward` to its start.

    A label that the rollups no longer tell from others may lead to more spans, never to less.
    """
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    near = start if forward else end
    hours, enough = _hours(connection, counted, start, end, forward=forward, most=most)
    minutes: list[tuple[datetime, int]] = []
    if hours:
        spans = [(max(hour, start), min(hour + HOUR, end)) for hour, _ in hours]
        minutes = _counts(
            connection, verdict_minute, counted, [(_floor(a, MINUTE), b) for a, b in spans], forward=forward
        )
    minutes, enough_minutes = _enough(minutes, near, MINUTE, most)
    through = None
    if enough_minutes and minutes:
        through = minutes[-1][0] + (MINUTE if forward else timedelta())
    elif enough:
        through = hours[-1][0] + (HOUR if forward else timedelta())
    found = tuple((max(at, start), min(at + MINUTE, end)) for at, _ in minutes)
    if through is not None and not start < through < end:
        through = None
    return Pieces(spans=_joined(found), through=through)


def _hours(
    connection: Connection, counted: Counted, start: datetime, end: datetime, *, forward: bool, most: int
) -> tuple[list[tuple[datetime, int]], bool]:
    """The hours next to the near end that hold `most`, and whether there are so many; the nearest are read first."""
    first, last, near = _floor(start, HOUR), _floor(end + HOUR - _SMALLEST, HOUR), start if forward else end
    hours: list[tuple[datetime, int]] = []
    enough = False
    for window in (*_WINDOWS, last - first):
        if first < last and not enough:
            length = min(window, last - first)
            span = (first, first + length) if forward else (last - length, last)
            first, last = (span[1], last) if forward else (first, span[0])
            hours += _counts(connection, verdict_hour, counted, [span], forward=forward)
            hours, enough = _enough(hours, near, HOUR, most)
    return hours, enough


def _counts(
    connection: Connection,
    table: Table,
    counted: Counted,
    spans: Sequence[tuple[datetime, datetime]],
    *,
    forward: bool,
) -> list[tuple[datetime, int]]:
    """Times with how many there were in the hour or minute that begins then, where there were any."""
    at = table.c.hour if table is verdict_hour else table.c.minute
    times = ARRAY(DateTime(timezone=True))
    span = (
        func.unnest(literal([a for a, _ in spans], times), literal([b for _, b in spans], times))
        .table_valued("start", "end", name="span")
        .render_derived()
    )
    number = func.sum(_number(table, counted))
    query = (
        select(at, number)
        .select_from(span.join(table, (at >= span.c.start) & (at < span.c.end)))
        .where(*(table.c[label].in_((value, OTHER)) for label, value in counted.labels))
        .group_by(at)
        .having(number > 0)
        .order_by(at.asc() if forward else at.desc())
    )
    return [(moment, int(n)) for moment, n in connection.execute(query)]


def _number(table: Table, counted: Counted) -> ColumnElement[int]:
    """At least so many of a row may be wanted."""
    if counted.reason is not None:
        return table.c[counted.reason.value]
    if not counted.verdicts:
        return table.c.total
    first, *others = (table.c[verdict.value] for verdict in sorted(counted.verdicts))
    return sum(others, first)


def _enough(
    rows: Sequence[tuple[datetime, int]], near: datetime, unit: timedelta, most: int
) -> tuple[list[tuple[datetime, int]], bool]:
    """The first that hold `most` together. What `near` lies within does not count: its part may be the other one."""
    kept, sum_ = [], 0
    for moment, number in rows:
        kept.append((moment, number))
        if not moment < near < moment + unit:
            sum_ += number
        if sum_ >= most:
            return kept, True
    return kept, False


def _joined(spans: Sequence[tuple[datetime, datetime]]) -> tuple[tuple[datetime, datetime], ...]:
    """Neighbours as one."""
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
