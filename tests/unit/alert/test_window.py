from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.window import Count, Span, interval, window_at
from monitor.core.figures.proportions import wilson
from tests.factories.alert.notifications import NOON, at

FIVE = timedelta(minutes=5)
NONE = timedelta()


def test_without_lateness_a_window_takes_in_the_unfinished_minute():
    assert window_at(NOON + timedelta(seconds=20), FIVE, NONE) == Span(start=at(-4), end=at(1))
    assert window_at(NOON, FIVE, NONE) == Span(start=at(-5), end=NOON)


def test_with_lateness_a_window_ends_with_the_last_minute_that_is_closed():
    late = timedelta(seconds=30)
    assert window_at(NOON + timedelta(seconds=29), FIVE, late).end == at(-1)
    assert window_at(NOON + timedelta(seconds=30), FIVE, late).end == NOON
    assert window_at(NOON + timedelta(seconds=59), FIVE, late).end == NOON


@given(st.integers(0, 10**9), st.integers(0, 999_999), st.integers(0, 3600))
def test_a_window_is_whole_minutes_of_utc_as_near_to_now_as_it_may(seconds, microseconds, lateness):
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    now = NOON.astimezone(kathmandu) + timedelta(seconds=seconds, microseconds=microseconds)
    late = timedelta(seconds=lateness)
    window = window_at(now, FIVE, late)
    assert (window.start.second, window.start.microsecond, window.start.tzinfo) == (0, 0, UTC)
    assert window.length == FIVE
    if lateness:
        assert timedelta() <= now - late - window.end < timedelta(minutes=1)
    else:
        assert window.start < now <= window.end < now + timedelta(minutes=1)


def test_a_span_goes_back_with_its_length():
    assert Span(start=at(0), end=at(5)).back(timedelta(hours=1)) == Span(start=at(-60), end=at(-55))


# Published values: 10 of 100 and 0 of 10 at 95 % (Newcombe 1998 and standard calculators).
@pytest.mark.parametrize(
    ("matching", "total", "lower", "upper"),
    [(10, 100, 0.0552, 0.1744), (0, 10, 0.0, 0.2775), (81, 263, 0.2553, 0.3662), (5, 10, 0.2366, 0.7634), (0, 0, 0, 1)],
)
def test_wilson_gives_the_published_values(matching, total, lower, upper):
    assert wilson(matching, total) == (pytest.approx(lower, abs=5e-5), pytest.approx(upper, abs=5e-5))


@given(st.integers(1, 10**9).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate_and_mirrors(counts):
    matching, total = counts
    lower, upper = wilson(matching, total)
    assert 0 <= lower <= matching / total <= upper <= 1
    assert wilson(total - matching, total) == (pytest.approx(1 - upper), pytest.approx(1 - lower))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=50))
def test_the_interval_of_a_mean_holds_it(values):
    count = Count(total=len(values), sum=sum(values), squares=sum(value * value for value in values))
    lower, upper = interval(count, share=False)
    assert lower <= count.mean <= upper


def test_the_interval_of_a_mean_is_the_normal_one():
    """0.4, 0.5 and 0.6: standard deviation 0.1, so the margin is 1.95996 · 0.1 / √3."""
    lower, upper = interval(Count(total=3, sum=1.5, squares=0.77), share=False)
    assert (lower, upper) == (pytest.approx(0.5 - 0.113158, abs=1e-6), pytest.approx(0.5 + 0.113158, abs=1e-6))


def test_of_too_little_an_interval_says_nothing():
    assert interval(Count(), share=True) == (0, 1)
    assert interval(Count(total=1, sum=0.5, squares=0.25), share=False) == (float("-inf"), float("inf"))
    assert Count().mean is None
