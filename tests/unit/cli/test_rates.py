"""Periods as people write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from monitor.cli.review.rates import period_between
from monitor.core.errors import WrongSettings


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        ("2026-01-05", None, "give both --from and --to"),
        (None, "2026-01-05", "give both --from and --to"),
        ("2026-01-05", "2026-01-05", "--from must be before --to"),
        ("2026-01-05T00:00:30Z", "2026-01-06", "whole minutes"),
        ("Monday", "2026-01-06", "--from: 'Monday' is not a time"),
        ("2026-01-05", "2026-13-06", "--to: '2026-13-06' is not a time"),
    ],
)
def test_a_period_that_is_none_is_refused(start, end, said):
    with pytest.raises(WrongSettings, match=said):
        period_between(start, end)


def test_a_date_is_its_first_moment_and_a_zone_counts():
    period = period_between("2026-01-05", "2026-01-06T01:00+02:00")
    assert (period.since, period.until) == (datetime(2026, 1, 5, tzinfo=UTC), datetime(2026, 1, 5, 23, tzinfo=UTC))
