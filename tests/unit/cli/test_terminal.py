"""Times that options give."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from monitor.cli.terminal import point_in_time
from monitor.core.errors import WrongSettings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-01", datetime(2026, 3, 1, tzinfo=UTC)),
        ("2026-03-01T12:00:00Z", datetime(2026, 3, 1, 12, tzinfo=UTC)),
        ("2026-03-01T12:00+02:00", datetime(2026, 3, 1, 10, tzinfo=UTC)),
        ("9999-12-31T23:59", datetime(9999, 12, 31, 23, 59, tzinfo=UTC)),
    ],
)
def test_a_time_is_in_utc_where_it_names_no_zone(text, expected):
    assert point_in_time(text, "--to") == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2026-02-30", "9999-12-31T23:59-05:00", "0001-01-01T00:00+05:00"])
def test_what_is_no_time_is_named_with_its_option(text):
    with pytest.raises(WrongSettings, match=r"^--to: .* is not a time: write 2026-03-01"):
        point_in_time(text, "--to")
