from __future__ import annotations

import pytest

from monitor.alert.rules import times
from monitor.alert.rules.file import parse_rules
from monitor.core.errors import WrongSettings

# As Alertmanager's documentation writes them, with and without quotes.
ALERTMANAGER = """\
time_intervals:
  - name: outside-hours
    time_intervals:
      - times: [{start_time: '06:00', end_time: '23:59'}, {start_time: 17:00, end_time: 24:00}]
        weekdays: ['saturday', 'monday:wednesday', Sunday]
        days_of_month: ['1:5', '-3:-1', 15, 10:20]
        months: ['1:3', may:august, december, 1:5]
        years: ['2020:2022', 2030]
        location: Australia/Sydney
rules:
  - {name: a, signal: lag, above: 300, mute_time_intervals: [outside-hours], active_time_intervals: outside-hours}
"""


def parse(text: str):
    return parse_rules(text, name="rules.yaml", receivers=())


def test_every_field_is_read_as_alertmanager_reads_it():
    (rule,) = parse(ALERTMANAGER).rules
    ((name, (interval,)),) = rule.mute.muted.items()
    assert (name, rule.mute.active[name]) == ("outside-hours", (interval,))
    assert interval.times == ((360, 1439), (1020, 1440))
    assert interval.weekdays == ((6, 6), (1, 3), (0, 0))
    assert interval.days_of_month == ((1, 5), (-3, -1), (15, 15), (10, 20))
    assert interval.months == ((1, 3), (5, 8), (12, 12), (1, 5))
    assert interval.years == ((2020, 2022), (2030, 2030))
    assert str(interval.location) == "Australia/Sydney"


@pytest.mark.parametrize(
    ("right", "wrong", "where", "problem"),
    [
        ("'06:00'", "'6:00'", "times[0].start_time", "'6:00' is not a time of the day"),
        ("24:00", "24:01", "times[1].end_time", "1441 is not a time of the day"),
        ("17:00", "24:00", "times[1]", "end_time must be later than start_time"),
        ("monday:wednesday", "wednesday:monday", "weekdays[1]", "ends before it begins"),
        ("saturday", "caturday", "weekdays[0]", "'caturday' is not a weekday: sunday to saturday"),
        ("'1:5'", "'-3:5'", "days_of_month[0]", "so must end with one"),
        ("'1:5'", "'0:5'", "days_of_month[0]", "is not a day of the month"),
        ("'1:5'", "'10:-25'", "days_of_month[0]", "ends before it begins"),
        ("'1:3'", "'1:13'", "months[0]", "is not a month"),
        ("'2020:2022'", "'2022:2020'", "years[0]", "ends before it begins"),
        ("'2020:2022'", "true", "years[0]", "'true' is not a year"),
        ("Australia/Sydney", "Australia/Sidney", "location", "is not a time zone that this machine knows"),
        ("Australia/Sydney", "../etc/passwd", "location", "is not a time zone that this machine knows"),
        ("Australia/Sydney", "7", "location", "is not a time zone that this machine knows"),
    ],
)
def test_what_alertmanager_refuses_is_refused_with_its_place(right, wrong, where, problem):
    with pytest.raises(WrongSettings) as caught:
        parse(ALERTMANAGER.replace(right, wrong, 1))
    (line,) = str(caught.value).splitlines()
    assert f"time_intervals[0].time_intervals[0].{where}: " in line
    assert problem in line


def test_a_single_day_is_a_range_too():
    assert times.weekdays("friday") == (5, 5)
    assert times.days_of_month(-1) == (-1, -1)


@pytest.mark.parametrize("text", ["28:-1", "29:-1", "31:-1", "1:-31"])
def test_days_that_only_long_months_have_are_a_range(text):
    """Alertmanager refuses these, although it skips a range in a month where that has no day."""
    first, last = text.split(":")
    assert times.days_of_month(text) == (int(first), int(last))
