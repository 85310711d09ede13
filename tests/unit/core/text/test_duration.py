from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.text.duration import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("5m", 300),
        ("1h30m", 5_400),
        ("1d", 86_400),
        ("2w", 1_209_600),
        ("0s", 0),
        ("0", 0),
        ("90m", 5_400),
    ],
)
def test_reads_durations_as_prometheus_writes_them(text, seconds):
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "m", "5 m", "1m1h", "5m5m", "-5m", "1.5h", "5M", "٥m", "999999999d", "5m\n"])
def test_refuses_anything_else(text):
    with pytest.raises(ValueError, match=r"duration|year"):
        parse_duration(text)


@given(st.integers(0, 366 * 86_400))
def test_what_is_written_reads_back(seconds):
    length = timedelta(seconds=seconds)
    assert parse_duration(format_duration(length)) == length


def test_a_longer_one_is_read_where_it_may_be():
    assert parse_duration("400d", longest=timedelta(days=500)) == timedelta(days=400)
    with pytest.raises(ValueError, match="longer than 2 years"):
        parse_duration("3y", longest=timedelta(days=730))
