"""Recurring times, with the words and the meaning of Alertmanager's `time_intervals`.

Source: https://prometheus.io/docs/alerting/latest/configuration/#time_interval
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import chain, takewhile
from typing import TypeAlias

Range: TypeAlias = tuple[int, int]  # both ends belong to it

DAY = 24 * 60  # minutes
_MINUTE = timedelta(minutes=1)
_LONGEST_LOOK = 100  # days in which the end of a mute is looked for


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeInterval:
    """A time belongs to it if every field that is set has a range with it, by the clocks of `location`.

    `times` are minutes of the day, without their end; weekdays count from 0, a Sunday; days of the month may count
    from the end, -1 being the last; a range that begins after the month's last day has no day in that month.
    """

    times: tuple[Range, ...] = ()
    weekdays: tuple[Range, ...] = ()
    days_of_month: tuple[Range, ...] = ()
    months: tuple[Range, ...] = ()
    years: tuple[Range, ...] = ()
    location: tzinfo = UTC

    def contains(self, at: datetime) -> bool:
        """Whether the aware time `at` belongs to it."""
        here = at.astimezone(self.location)
        minute = here.hour * 60 + here.minute
        return (
            (not self.times or any(start <= minute < end for start, end in self.times))
            and (not self.days_of_month or self._has_day(here))
            and _within(self.months, here.month)
            and _within(self.weekdays, here.isoweekday() % 7)
            and _within(self.years, here.year)
        )

    def _has_day(self, here: datetime) -> bool:
        last = monthrange(here.year, here.month)[1]
        counted = [tuple(day if day > 0 else last + 1 + day for day in days) for days in self.days_of_month]
        return any(first <= here.day <= end for first, end in counted)


def _within(ranges: Sequence[Range], number: int) -> bool:
    return not ranges or any(first <= number <= last for first, last in ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class Muting:
    """Why nobody is notified now, such as `nights` or `outside office-hours`, and until when.

    `until` is None if no end is in sight.
    """

    why: str
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MuteTimes:
    """When a rule notifies nobody: while one of `muted` holds, and, if there are any `active`, while none of them does.

    Both map names to intervals, of which one is enough.
    """

    muted: Mapping[str, tuple[TimeInterval, ...]] = field(default_factory=dict)
    active: Mapping[str, tuple[TimeInterval, ...]] = field(default_factory=dict)

    def why(self, at: datetime) -> str | None:
        """What mutes at `at`; None if nothing does."""
        holding = [name for name, intervals in self.muted.items() if _holds(intervals, at)]
        if holding:
            return ", ".join(holding)
        if self.active and not any(_holds(intervals, at) for intervals in self.active.values()):
            return f"outside {', '.join(self.active)}"
        return None

    def at(self, now: datetime) -> Muting | None:
        """The mute that holds at `now`, with its end."""
        why = self.why(now)
        if why is None:
            return None
        return Muting(why=why, until=next((at for at in self._turns(now) if self.why(at) is None), None))

    def quiet_within(self, length: timedelta, now: datetime) -> bool:
        """Whether a minute of the `length` before `now` was muted.

        A mute begins or ends at a turn of an interval, if not where the clocks change: it is enough to look at both
        sides of every turn, and at both ends.
        """
        if not self.muted and not self.active:
            return False
        start = now - length
        turns = takewhile(lambda at: at < now, self._turns(start))
        sides = (at for turn in turns for at in (turn - _MINUTE, turn))
        return any(self.why(at) for at in chain((start, now - _MINUTE), sides))

    def _turns(self, now: datetime) -> Iterator[datetime]:
        """The times after `now` at which an interval can begin or end, in order; the clocks' changes aside.

        A time that the clocks repeat is there twice.
        """
        intervals = [each for some in (*self.muted.values(), *self.active.values()) for each in some]
        minutes = {(each.location, minute) for each in intervals for span in ((0, DAY), *each.times) for minute in span}
        for day in range(_LONGEST_LOOK):
            start = now + timedelta(days=day)
            found = {
                datetime.combine(
                    start.astimezone(location).date() + timedelta(days=here + minute // DAY),
                    time(minute % DAY // 60, minute % 60, fold=fold),
                    location,
                ).astimezone(UTC)
                for location, minute in minutes
                for here in (0, 1)  # the day from `start` on has two dates
                for fold in (0, 1)
            }
            yield from sorted(at for at in found if start < at <= start + timedelta(days=1))


NEVER_MUTED = MuteTimes()


def _holds(intervals: Sequence[TimeInterval], at: datetime) -> bool:
    return any(interval.contains(at) for interval in intervals)
