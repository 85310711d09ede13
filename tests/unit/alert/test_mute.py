"""The meaning of Alertmanager's time intervals."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from monitor.alert.mute import DAY, MuteTimes, TimeInterval

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = TimeInterval(times=((22 * 60, DAY), (0, 6 * 60)), location=BERLIN)
OFFICE = TimeInterval(times=((9 * 60, 17 * 60),), weekdays=((1, 5),))


def moment(text: str, zone: object = UTC) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("interval", "inside", "outside"),
    [
        (TimeInterval(), ["2026-11-23T03:00"], []),
        (TimeInterval(times=((540, 1020),)), ["2026-11-23T09:00", "2026-11-23T16:59"], ["2026-11-23T17:00"]),
        (TimeInterval(times=((0, DAY),)), ["2026-11-23T00:00", "2026-11-23T23:59"], []),
        (TimeInterval(weekdays=((0, 0), (6, 6))), ["2026-11-22T12:00", "2026-11-21T12:00"], ["2026-11-23T12:00"]),
        (TimeInterval(months=((12, 12), (1, 2))), ["2026-12-31T12:00", "2026-02-01T00:00"], ["2026-03-01T00:00"]),
        (TimeInterval(years=((2026, 2027),)), ["2027-12-31T23:59"], ["2028-01-01T00:00", "2025-12-31T23:59"]),
        (TimeInterval(days_of_month=((-1, -1),)), ["2026-02-28T12:00", "2028-02-29T12:00"], ["2028-02-28T12:00"]),
        (TimeInterval(days_of_month=((1, -2),)), ["2026-11-01T12:00", "2026-11-29T12:00"], ["2026-11-30T12:00"]),
        (TimeInterval(days_of_month=((30, 31),)), ["2026-11-30T12:00"], ["2026-02-28T12:00", "2026-11-29T12:00"]),
        (TimeInterval(days_of_month=((28, -1),)), ["2026-02-28T12:00", "2026-11-30T12:00"], ["2026-02-27T12:00"]),
        (TimeInterval(days_of_month=((29, -1),)), ["2028-02-29T12:00", "2026-11-29T12:00"], ["2026-02-28T12:00"]),
        (TimeInterval(days_of_month=((-31, -1),)), ["2026-02-01T12:00", "2026-02-28T12:00"], []),
    ],
)
def test_a_time_belongs_to_an_interval_if_it_suits_every_field(interval, inside, outside):
    assert [interval.contains(moment(text)) for text in inside] == [True] * len(inside)
    assert [interval.contains(moment(text)) for text in outside] == [False] * len(outside)


def test_all_fields_have_to_hold_and_one_range_of_each_is_enough():
    assert OFFICE.contains(moment("2026-11-23T12:00"))
    assert not OFFICE.contains(moment("2026-11-22T12:00"))
    assert not OFFICE.contains(moment("2026-11-23T17:00"))


def test_clocks_are_those_of_the_location():
    """Six in the morning in Berlin is five in UTC in winter, four in summer."""
    assert NIGHT.contains(moment("2026-11-23T04:59"))
    assert not NIGHT.contains(moment("2026-11-23T05:00"))
    assert NIGHT.contains(moment("2026-07-01T03:59"))
    assert not NIGHT.contains(moment("2026-07-01T04:00"))


def test_an_hour_that_the_clocks_leave_out_is_in_no_interval_and_one_that_they_repeat_is_twice():
    hour = TimeInterval(times=((2 * 60, 3 * 60),), location=BERLIN)

    def minutes(day: str) -> int:
        start = moment(day)
        return sum(hour.contains(start + timedelta(minutes=minute)) for minute in range(DAY))

    assert (minutes("2026-03-29T00:00"), minutes("2026-10-25T00:00"), minutes("2026-11-23T00:00")) == (0, 120, 60)


def test_a_mute_says_what_holds_and_when_it_ends():
    mute = MuteTimes(muted={"nights": (NIGHT,), "weekend": (TimeInterval(weekdays=((6, 6), (0, 0))),)})
    night = mute.at(moment("2026-11-23T23:30"))
    assert (night.why, night.until) == ("nights", moment("2026-11-24T05:00"))
    assert mute.at(moment("2026-11-22T02:00")).why == "nights, weekend"
    # a Saturday and a Sunday in UTC, then the night in Berlin
    assert mute.at(moment("2026-11-21T12:00")).until == moment("2026-11-23T05:00")
    assert mute.at(moment("2026-11-23T12:00")) is None
    assert mute.at(moment("2026-03-28T23:30")).until == moment("2026-03-30T04:00")  # by summer time


def test_outside_its_active_times_a_rule_is_muted():
    mute = MuteTimes(active={"office": (OFFICE,)})
    assert mute.at(moment("2026-11-23T12:00")) is None
    friday = mute.at(moment("2026-11-20T17:00"))
    assert (friday.why, friday.until) == ("outside office", moment("2026-11-23T09:00"))


def test_the_end_is_found_in_order_where_clocks_of_several_places_count():
    """Eleven at night in Auckland is ten in the morning in UTC, long before the end of the day there."""
    auckland = TimeInterval(times=((0, 23 * 60),), location=ZoneInfo("Pacific/Auckland"))
    mute = MuteTimes(muted={"far": (auckland,), "near": (TimeInterval(times=((0, 9 * 60),)),)})
    assert mute.at(moment("2026-11-22T23:00")).until == moment("2026-11-23T10:00")


def test_a_mute_without_an_end_says_so():
    assert MuteTimes(muted={"always": (TimeInterval(),)}).at(moment("2026-11-23T12:00")).until is None
    assert MuteTimes().at(moment("2026-11-23T12:00")) is None


class Counted(MuteTimes):
    """Counts how often it is asked whether it holds."""

    asked = 0

    def why(self, at: datetime) -> str | None:
        type(self).asked += 1
        return super().why(at)


def test_a_week_is_looked_through_by_the_turns_of_its_intervals():
    never = TimeInterval(times=((22 * 60, DAY),), years=((2000, 2000),), location=BERLIN)
    assert not Counted(muted={"never": (never,)}).quiet_within(timedelta(days=7), moment("2026-11-23T12:00"))
    assert Counted.asked < 50


@pytest.mark.parametrize("day", ["2026-03-29T00:00", "2026-10-25T00:00"])
@pytest.mark.parametrize("times", [((150, 195),), ((120, 150),), ((150, 180),), ((0, 120), (195, DAY))])
def test_no_minute_is_missed_where_clocks_change(day, times):
    mute = MuteTimes(muted={"some": (TimeInterval(times=times, location=BERLIN),)})
    start, ahead = moment(day), timedelta(minutes=20)
    for minute in range(0, 300, 5):
        now = start + timedelta(minutes=minute)
        every = [mute.why(now - timedelta(minutes=back)) for back in range(1, 21)]
        assert mute.quiet_within(ahead, now) == any(every)


def test_minutes_of_a_mute_in_the_past_are_found():
    mute = MuteTimes(muted={"nights": (NIGHT,)})
    quarter = timedelta(minutes=15)
    assert mute.quiet_within(quarter, moment("2026-11-23T05:14"))
    assert not mute.quiet_within(quarter, moment("2026-11-23T05:15"))
    assert not MuteTimes().quiet_within(quarter, moment("2026-11-23T05:14"))
