from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from monitor.report.weekly.week import Week, due_week, last_week, week_named, week_of

W46 = Week(monday=date(2026, 11, 9))


def utc(day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


def test_a_week_goes_from_monday_to_monday():
    assert week_named("2026-W46") == W46 == week_of(date(2026, 11, 15)) == week_of(date(2026, 11, 9))
    assert (W46.name, W46.start, W46.end) == ("2026-W46", utc(9), utc(16))
    assert (W46.before.name, W46.trend_start) == ("2026-W45", datetime(2026, 10, 19, tzinfo=UTC))
    days = list(W46.trend_days())
    assert (len(days), days[0], days[-1]) == (28, date(2026, 10, 19), date(2026, 11, 15))


@pytest.mark.parametrize(
    "name", ["2026-46", "2026-W54", "W46", "2026-W00", "0000-W01", "2026-W46 ", "0001-W01", "9999-W52", "２０２６-W46"]
)
def test_other_names_are_no_weeks(name):
    with pytest.raises(ValueError, match="week"):
        week_named(name)


def test_years_begin_with_the_week_of_their_first_thursday():
    assert week_named("2026-W01").monday == date(2025, 12, 29)
    assert week_of(date(2027, 1, 3)).name == "2026-W53"


def test_the_last_week_is_over():
    assert last_week(utc(16)) == W46
    assert last_week(utc(15, 23, 59)) == W46.before
    assert last_week(utc(16).astimezone(timezone(timedelta(hours=-5)))) == W46


@pytest.mark.parametrize(
    ("now", "weekday", "hour", "week"),
    [
        (utc(16, 5, 59), "monday", 6, W46.before),
        (utc(16, 6), "monday", 6, W46),
        (utc(22, 23), "monday", 6, W46),
        (utc(23, 5), "monday", 6, W46),
        (utc(17, 23), "wednesday", 0, W46.before),
        (utc(18), "wednesday", 0, W46),
        (utc(16), "monday", 0, W46),
    ],
)
def test_a_report_is_due_from_its_hour_until_the_next_one_is(now, weekday, hour, week):
    assert due_week(now, weekday=weekday, hour=hour) == week
