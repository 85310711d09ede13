from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.methods.threshold import threshold
from monitor.alert.window import WindowCount, minutes, wilson
from tests.unit.alert.factories import NOON, a_rule

FIVE = timedelta(minutes=5)


def test_a_window_takes_in_the_unfinished_minute():
    assert minutes(FIVE, NOON + timedelta(seconds=20)) == (NOON - timedelta(minutes=4), NOON + timedelta(minutes=1))


def test_a_window_ends_at_a_full_minute():
    assert minutes(FIVE, NOON) == (NOON - FIVE, NOON)


@given(st.integers(0, 10**9), st.integers(0, 999_999))
def test_a_window_is_whole_minutes_and_holds_now(seconds, microseconds):
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    now = NOON.astimezone(kathmandu) + timedelta(seconds=seconds, microseconds=microseconds)
    start, end = minutes(FIVE, now)
    assert (start.second, start.microsecond, start.tzinfo) == (0, 0, UTC)
    assert end - start == FIVE
    assert start < now <= end


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


def seen(matching: int, total: int, **rule):
    return threshold(a_rule(**rule), WindowCount(labels={"app": "shop"}, matching=matching, total=total))


@pytest.mark.parametrize(("matching", "breaching"), [(40, True), (31, True), (30, False), (0, False)])
def test_threshold_is_exceeded_not_met(matching, breaching):
    assert seen(matching, 100).breaching is breaching


def test_confident_asks_for_the_whole_interval():
    assert seen(38, 100, confident=True).breaching is False
    assert seen(45, 100, confident=True).breaching is True


def test_too_few_samples_say_nothing():
    observation = seen(9, 9, min_samples=10)
    assert (observation.breaching, observation.value, observation.samples) == (None, 1.0, 9)
    assert seen(0, 0, min_samples=1).value is None
