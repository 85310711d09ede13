"""When a probe is due."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, timezone

import pytest

from monitor.app.probe.schedule import is_due
from monitor.probe.file import parse_probes

NOW = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)
HOUR, MINUTE, DAY = timedelta(hours=1), timedelta(minutes=1), timedelta(days=1)
(BY_HAND,) = parse_probes(
    "probes: [{name: a, app: b, golden: c, target: {command: [bot]}}]", name="probes.yaml"
).values()
HOURLY = replace(BY_HAND, every=HOUR)
AT_SIX = replace(BY_HAND, at=time(6, 30))
AT_TEN = replace(BY_HAND, at=time(22, 0))


@pytest.mark.parametrize(
    ("probe", "last", "due"),
    [
        (BY_HAND, None, False),
        (BY_HAND, NOW - 30 * DAY, False),
        (HOURLY, None, True),
        (HOURLY, NOW - HOUR + MINUTE, False),
        (HOURLY, NOW - HOUR, True),
        (HOURLY, NOW - 30 * DAY, True),
        (HOURLY, NOW + DAY, True),  # the clock was set back
        (AT_SIX, NOW - HOUR, False),  # it has run at eight
        (AT_SIX, NOW - 3 * HOUR, True),  # at six
        (AT_SIX, NOW - DAY, True),
        (AT_SIX, NOW + HOUR, True),
        (AT_TEN, NOW - 10 * HOUR, False),  # at 23 yesterday
        (AT_TEN, NOW - 12 * HOUR, True),  # at 21 yesterday
    ],
)
def test_a_probe_that_has_run_before(probe, last, due):
    assert is_due(probe, last=last, since=NOW - 5 * DAY, now=NOW) is due


def test_a_time_of_day_from_before_the_start_is_not_made_up_for():
    assert not is_due(AT_SIX, last=None, since=NOW - HOUR, now=NOW)
    assert is_due(AT_SIX, last=None, since=NOW - 3 * HOUR, now=NOW)
    assert is_due(AT_SIX, last=None, since=NOW - HOUR, now=NOW + DAY)


def test_it_begins_once_a_day_and_at_the_minute():
    at = NOW.replace(hour=6, minute=30)
    begun = []
    for minute in range(3 * 24 * 60):
        now = NOW + minute * MINUTE
        if is_due(AT_SIX, last=begun[-1] if begun else None, since=NOW, now=now):
            begun.append(now)
    assert begun == [at + DAY, at + 2 * DAY, at + 3 * DAY]


def test_clocks_of_other_zones_make_no_difference():
    zone = timezone(timedelta(hours=-9))
    for minutes in range(0, 48 * 60, 30):
        now = NOW + minutes * MINUTE
        given = {"last": NOW - DAY, "since": NOW - 5 * DAY}
        assert is_due(AT_SIX, now=now, **given) is is_due(AT_SIX, now=now.astimezone(zone), **given)


def test_what_a_replica_with_a_clock_ahead_has_just_begun_is_not_due_again():
    ahead = NOW + timedelta(seconds=5)
    assert not is_due(HOURLY, last=ahead, since=NOW - DAY, now=NOW)
    assert not is_due(AT_SIX, last=ahead, since=NOW - DAY, now=NOW)
