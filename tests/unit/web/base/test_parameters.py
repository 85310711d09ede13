from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from monitor.web.base.parameters import Flag, Id, Moment, Name

MOMENT = TypeAdapter(Moment)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2025-11-21T12:00:00Z", datetime(2025, 11, 21, 12, tzinfo=UTC)),
        ("2025-11-21t12:00:00.123456789z", datetime(2025, 11, 21, 12, microsecond=123456, tzinfo=UTC)),
        ("2025-11-21T12:00:00.5+02:00", datetime(2025, 11, 21, 10, microsecond=500_000, tzinfo=UTC)),
        ("2016-12-31T23:59:60Z", datetime(2017, 1, 1, tzinfo=UTC)),
        ("0000-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00+23:59", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59-00:01", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_rfc_3339_is_read(text, time):
    assert MOMENT.validate_python(text) == time


@pytest.mark.parametrize(
    "text",
    [
        *("", "now", "2025", "2025-11-21", "2025-11-21T12:00Z", "2025-11-21T12:00:00", "1763726400", "2025-W47-5"),
        *("2025-11-31T12:00:00Z", "2025-11-21T24:00:00Z", "2025-11-21T12:00:61Z", "2025-11-21T12:00:00+24:00"),
        *("2025-11-21T12:00:00+0100", " 2025-11-21T12:00:00Z", "2025-11-21T12:00:00Z\n", "٢٠٢٥-11-21T12:00:00Z"),
    ],
)
def test_nothing_else_is_a_time(text):
    with pytest.raises(ValidationError):
        MOMENT.validate_python(text)


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_time_comes_back(moment):
    assert MOMENT.validate_python(moment.isoformat()) == moment


def test_integers_and_flags_are_written_in_one_way():
    id_, flag = TypeAdapter(Id), TypeAdapter(Flag)
    assert id_.validate_python("7") == 7
    assert flag.validate_python("true") is True
    for text in ("7.0", " 7", "+7", "7_0", "٧", "0", str(2**63), ""):
        with pytest.raises(ValidationError):
            id_.validate_python(text)
    for text in ("1", "yes", "True", "", "on"):
        with pytest.raises(ValidationError):
            flag.validate_python(text)


def test_what_postgres_cannot_hold_is_replaced():
    assert TypeAdapter(Name).validate_python("a\x00b") == "a\ufffdb"
