"""Times and dates of the database that Python does not have."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("'infinity'::timestamptz", datetime.max.replace(tzinfo=UTC)),
        ("'-infinity'::timestamptz", datetime.min.replace(tzinfo=UTC)),
        ("'4713-01-01 BC'::timestamptz", datetime.min.replace(tzinfo=UTC)),
        ("'10000-01-01'::timestamptz", datetime.max.replace(tzinfo=UTC)),
        ("'2025-11-21 12:00:00.5+01'::timestamptz", datetime(2025, 11, 21, 11, 0, 0, 500_000, tzinfo=UTC)),
        ("'infinity'::date", date.max),
        ("'-infinity'::date", date.min),
        ("'2025-11-21'::date", date(2025, 11, 21)),
        ("NULL::timestamptz", None),
    ],
)
def test_a_time_that_python_lacks_is_read_as_the_first_or_last(engine, written, read):
    with engine.connect() as connection:
        assert connection.exec_driver_sql(f"SELECT {written}").scalar() == read
