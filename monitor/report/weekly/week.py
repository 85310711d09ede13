"""ISO weeks, from Monday 0:00 UTC to Monday, and when the report of a week is due."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
TREND_WEEKS = 4  # weeks in the trend; the last one is the report's
_WEEK = timedelta(days=7)
_NAME = re.compile(r"([0-9]{4})-W([0-9]{2})")
FIRST_MONDAY, _LAST_MONDAY = date(1970, 1, 5), date(9999, 11, 29)  # weeks that have others before and after them


@dataclass(frozen=True, slots=True, kw_only=True)
class Week:
    """An ISO week in UTC; `monday` is its first day."""

    monday: date

    @property
    def name(self) -> str:
        """`2026-W46`."""
        year, week, _ = self.monday.isocalendar()
        return f"{year:04}-W{week:02}"

    @property
    def start(self) -> datetime:
        """Monday 0:00 UTC."""
        return datetime.combine(self.monday, time(), UTC)

    @property
    def end(self) -> datetime:
        """The next Monday 0:00 UTC, excluded."""
        return self.start + _WEEK

    @property
    def before(self) -> Week:
        return Week(monday=self.monday - _WEEK)

    @property
    def trend_start(self) -> datetime:
        """The Monday on which the trend begins."""
        return self.end - TREND_WEEKS * _WEEK

    def trend_days(self) -> Iterator[date]:
        """The days of the trend, the oldest first."""
        first = self.trend_start.date()
        return (first + timedelta(days=place) for place in range(7 * TREND_WEEKS))


def week_named(name: str) -> Week:
    """The week with a name such as `2026-W46`.

    Raises:
        ValueError: there is no such week.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not a week: write it as 2026-W46")
    try:
        monday = date.fromisocalendar(int(match[1]), int(match[2]), 1)
    except ValueError:
        raise ValueError(f"{name!r}: that year has no such week") from None
    if not FIRST_MONDAY <= monday <= _LAST_MONDAY:
        raise ValueError(f"{name!r}: no answers can be of that week")
    return Week(monday=monday)


def week_of(day: date) -> Week:
    return Week(monday=day - timedelta(days=day.weekday()))


def last_week(now: datetime) -> Week:
    """The last week that is over at `now`."""
    return week_of(now.astimezone(UTC).date()).before


def due_at(week: Week, *, weekday: str, hour: int) -> datetime:
    """When the report of the week is due: on the first `weekday` at `hour` UTC after its end."""
    return week.end + timedelta(days=DAYS.index(weekday), hours=hour)


def due_week(now: datetime, *, weekday: str, hour: int) -> Week:
    """The last week whose report is due."""
    last = last_week(now)
    return last if now >= due_at(last, weekday=weekday, hour=hour) else last.before
