"""Parses the time of an event, RFC 3339 text or an epoch number, to UTC."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from monitor.core.errors import InvalidMessage
from monitor.core.model import Json
from monitor.ingest.parse import kind, shown

# Seconds reach this in the year 5138, milliseconds passed it in 1973: so a larger number counts milliseconds.
_MILLISECONDS_FROM = 1e11
_MAX_CHARS = 64
# Narrower than `fromisoformat`, which also takes week dates and bare dates; seconds of 60 are RFC 3339's leap second.
_RFC3339 = re.compile(
    r"(?P<minutes>[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2})(?P<seconds>:[0-9]{2})?(?:\.[0-9]+)?"
    r"(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)
_OLDEST = timedelta(days=3653)
_NEWEST = timedelta(days=1)


def instant(value: Json, path: str) -> datetime:
    """UTC time of RFC 3339 text (no zone means UTC; digits beyond microseconds are dropped) or of an epoch number.

    Raises:
        InvalidMessage: with `path`, for anything else and for what lies outside the years 1 to 9999 in UTC.
    """
    try:
        if isinstance(value, str):
            return _from_text(value, path)
        if isinstance(value, int | float) and not isinstance(value, bool):
            seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
            return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise InvalidMessage(path, f"is no time between the years 1 and 9999 in UTC: {shown(value)}") from None
    raise InvalidMessage(path, f"must be RFC 3339 text or an epoch number, got {kind(value)}")


def out_of_range(occurred_at: datetime, received_at: datetime) -> bool:
    """Whether an event's time is too far from its receipt to be likely: over ten years before or a day after."""
    age = received_at - occurred_at
    return age > _OLDEST or -age > _NEWEST


def _from_text(text: str, path: str) -> datetime:
    form = _RFC3339.fullmatch(text) if len(text) <= _MAX_CHARS else None
    if form is None:
        raise InvalidMessage(path, f"must be an RFC 3339 time as 2026-05-04T09:12:33Z, got {shown(text)}")
    leap = form["seconds"] == ":60"
    if leap:
        text = text[: form.end("minutes")] + ":59" + text[form.end("seconds") :]
    time = datetime.fromisoformat(text.upper())
    time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    return time + timedelta(seconds=1) if leap else time
