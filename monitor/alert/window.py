"""Spans of time, what was counted in them, and how sure a rate or a mean is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import sqrt
from statistics import NormalDist

from monitor.core.proportions import CONFIDENCE, wilson

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """[start, end), whole minutes of UTC."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        """From start to end."""
        return self.end - self.start

    def back(self, by: timedelta) -> Span:
        """The same span, earlier."""
        return Span(start=self.start - by, end=self.end - by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What was counted in one span: `total` things whose values add up to `sum`, and their squares to `squares`.

    For a rate the values are 0 and 1, so `sum` and `squares` are the number of things that show the signal.
    """

    total: int = 0
    sum: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float | None:
        """The rate or mean; None of nothing."""
        return self.sum / self.total if self.total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """What was counted under one set of labels, one `Count` for each span that was asked for, in order."""

    labels: Mapping[str, str]
    counts: tuple[Count, ...]


class Outcome(StrEnum):
    """What a method makes of its counts."""

    BREACHING = "breaching"
    NORMAL = "normal"
    UNSURE = "unsure"  # too few answers, or neither clearly bad nor clearly good: what fires goes on, what pends ends
    NO_DATA = "no_data"  # nothing was counted where there was something before
    STALE = "stale"  # reading is behind, so half of the answers may be missing: nothing changes
    ERROR = "error"  # the rule could not be evaluated


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What one evaluation of a rule found for one set of labels.

    `value` is the rate, mean or state, None without any sample; `lower` and `upper` bound it at `CONFIDENCE` (both
    equal `value` for a state of now). `bound` is the line that it is held against, in the same unit. `detail` says in
    a few words what the figures do not: the burn rates, the evidence.
    """

    labels: Mapping[str, str]
    outcome: Outcome
    value: float | None
    samples: int
    lower: float
    upper: float
    bound: float
    detail: str | None = None


def gone_by(since: datetime, now: datetime) -> timedelta:
    """From `since` to `now`; a time of the future, of a clock that was set back, counts as long ago."""
    return now - since if since <= now else timedelta.max


def window_at(now: datetime, length: timedelta, lateness: timedelta) -> Span:
    """The last span of `length` that is closed at `now`: it ends with the last whole minute before `now - lateness`.

    With a `lateness` of zero the running minute is in it: the end is `now` rounded up.
    """
    at = now.astimezone(UTC) - lateness
    floor = at.replace(second=0, microsecond=0)
    end = floor + MINUTE if not lateness and floor != at else floor
    return Span(start=end - length, end=end)


def interval(count: Count, *, share: bool, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bounds of the rate (Wilson) or of the mean (normal, from the sum of squares) at `confidence`.

    Without any sample (0, 1) for a rate, and (-inf, inf) for a mean, where it takes two.
    """
    if share:
        return wilson(round(count.sum), count.total, confidence)
    if count.total < 2:  # noqa: PLR2004  a spread takes two
        return float("-inf"), float("inf")
    mean = count.sum / count.total
    variance = max(count.squares / count.total - mean * mean, 0.0) * count.total / (count.total - 1)
    margin = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(variance / count.total)
    return mean - margin, mean + margin
