from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.errors import InvalidMessage
from monitor.ingest.times import instant, out_of_range

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2026-05-04T12:00:00Z", NOON),
        ("2026-05-04t12:00:00z", NOON),
        ("2026-05-04 12:00:00+00:00", NOON),
        ("2026-05-04T14:00:00+02:00", NOON),
        ("2026-05-04T12:00:00", NOON),
        ("2026-05-04T12:00Z", NOON),
        ("2026-05-04T06:30:00-05:30", NOON),
        ("2026-05-04T12:00:00.5Z", NOON.replace(microsecond=500_000)),
        ("2026-05-04T12:00:00.123456789Z", NOON.replace(microsecond=123_456)),
        ("2026-05-04T11:59:60Z", NOON),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59Z", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (1_777_896_000, NOON),
        (1_777_896_000.5, NOON.replace(microsecond=500_000)),
        (1_777_896_000_000, NOON),
        (1_777_896_000_500.0, NOON.replace(microsecond=500_000)),
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_times(value, time):
    assert instant(value, "t") == time
    assert instant(value, "t").tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "2026-05-04",
        "20260504T120000Z",
        "2026-W19-1T12:00:00Z",
        "2026-13-04T12:00:00Z",
        "2026-05-04T24:00:00Z",
        "2026-05-04T12:00:61Z",
        "2026-05-04T12:00:00+24:00",
        "2026-05-04T12:00:00Z" + "0" * 1000,
        "２０２６-05-04T12:00:00Z",
        "0001-01-01T00:00+14:00",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:60Z",
        "0000-01-01T00:00:00Z",
        1e300,
        -1e18,
        10**400,
        True,
        [],
        {},
        None,
    ],
)
def test_what_is_no_time_is_refused(value):
    with pytest.raises(InvalidMessage) as caught:
        instant(value, "occurred_at")
    assert caught.value.path == "occurred_at"
    assert len(caught.value.problem) < 200


def test_far_from_receipt():
    assert not out_of_range(NOON, NOON)
    assert not out_of_range(NOON + timedelta(days=1), NOON)
    assert out_of_range(NOON + timedelta(days=1, seconds=1), NOON)
    assert not out_of_range(NOON.replace(year=2016), NOON)
    assert out_of_range(NOON.replace(year=2016) - timedelta(days=2), NOON)
    assert out_of_range(datetime.min.replace(tzinfo=UTC), NOON)
    assert out_of_range(datetime.max.replace(tzinfo=UTC), NOON)


@given(
    st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1)),
    st.integers(-1439, 1439),
)
def test_every_zone_is_brought_to_utc(time, minutes):
    local = time.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    assert instant(local.isoformat(), "t") == local


@given(st.text() | st.floats() | st.integers())
def test_anything_gives_a_utc_time_or_invalid_message(value):
    with contextlib.suppress(InvalidMessage):
        assert instant(value, "t").tzinfo is UTC
