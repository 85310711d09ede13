from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.report.charts.scales import (
    Scale,
    as_amount,
    as_number,
    as_percent,
    padded,
    rounded_span,
    spaced,
    ticks,
    time_ticks,
)

START = datetime(2025, 11, 20, tzinfo=UTC)  # a Thursday


def said(low, high, count, say):
    low, high, step = rounded_span(low, high, count)
    return [text for _, text in ticks(low, high, step, say)]


@pytest.mark.parametrize(
    ("low", "high", "say", "expected"),
    [
        (0, 0.37, as_percent, ["0%", "10%", "20%", "30%", "40%"]),
        (0, 0.012, as_percent, ["0.0%", "0.2%", "0.4%", "0.6%", "0.8%", "1.0%", "1.2%"]),
        (-0.3, 0.1, as_number, ["−0.3", "−0.2", "−0.1", "0.0", "0.1"]),
        (0, 3900, as_number, ["0", "1,000", "2,000", "3,000", "4,000"]),
        (0, 2_500_000, as_amount, ["0", "500k", "1M", "1.5M", "2M", "2.5M"]),
        (5, 5, as_number, ["5.0", "5.2", "5.4", "5.6", "5.8", "6.0"]),
    ],
)
def test_ticks_are_round_and_say_as_much_as_tells_them_apart(low, high, say, expected):
    assert said(low, high, 5, say) == expected


def test_whole_numbers_have_no_ticks_between():
    assert rounded_span(0, 2, 4, whole=True) == (0, 2, 1)


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1, 1e9, 1e300])
def test_an_axis_of_any_size_has_a_few_ticks(size):
    low, high, step = rounded_span(0, 3.3 * size, 5)
    assert 3 <= len(ticks(low, high, step, as_amount)) <= 9


@pytest.mark.parametrize(
    ("length", "days", "expected"),
    [
        (timedelta(hours=1), False, ["00:00", "00:15", "00:30", "00:45", "01:00"]),
        (timedelta(days=1), False, ["00:00", "06:00", "12:00", "18:00", "00:00"]),
        (timedelta(days=7), True, ["Nov 20", "Nov 22", "Nov 24", "Nov 26"]),
        (timedelta(days=28), True, ["Nov 24", "Dec 1", "Dec 8", "Dec 15"]),
        (timedelta(hours=6), True, ["Nov 20"]),
    ],
)
def test_times_are_round_in_utc_and_weeks_begin_on_mondays(length, days, expected):
    assert [text for _, text in time_ticks(START, START + length, 4, days=days)] == expected


def test_no_time_between_two_ends_that_are_one():
    assert [at for at, _ in time_ticks(START, START, 4, days=False)] == [START.timestamp()]


def test_centuries_have_as_few_ticks_as_hours():
    assert len(time_ticks(datetime(1, 1, 2, tzinfo=UTC), datetime(9998, 1, 1, tzinfo=UTC), 4, days=True)) < 1002


def test_words_that_would_touch_are_left_out():
    marked = [(n, str(n)) for n in range(100)]
    kept = spaced(marked, Scale(0, 99, 0, 200), lambda text: 10 * len(text))
    assert [text for _, text in kept] == ["0", "16", "32", "48", "64", "80", "96"]
    assert spaced(marked, Scale(0, 99, 0, 5), lambda _: 10) == [(0, "0")]
    assert spaced([], Scale(0, 1, 0, 5), len) == []


def test_a_scale_without_a_span_puts_everything_in_the_middle():
    assert Scale(3, 3, 0, 100)(3) == 50
    assert Scale(0, 4, 100, 0)(1) == 75


def test_times_are_padded_by_half_a_step():
    hours = [START + timedelta(hours=n) for n in range(3)]
    assert padded(hours) == (START - timedelta(minutes=30), hours[-1] + timedelta(minutes=30))
    assert padded(hours[:1]) == (START - timedelta(minutes=30), START + timedelta(minutes=30))
