"""Time spans, the counts in them, and the confidence interval of a rate or a mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from math import sqrt
from statistics import NormalDist

from monitor.alert.answers import AnswerBatch
from monitor.alert.labelled import LabelledRate
from monitor.alert.probed import Probed
from monitor.alert.signal import Signal
from monitor.core.figures.latency import percentile, percentile_interval
from monitor.core.figures.proportions import CONFIDENCE, wilson

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
CLOCKS_APART = timedelta(minutes=1)  # by which the clocks of replicas may differ
_FEWEST_FOR_SPREAD = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """[start, end), whole minutes of UTC."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        return self.end - self.start

    def back(self, by: timedelta) -> Span:
        """The span moved `by` into the past."""
        return Span(start=self.start - by, end=self.end - by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """The count of one span: `total` items, the `sum` of their values, and the sum of the `squares` of their values.

    For a rate the values are 0 and 1, so `sum` and `squares` are the number of items that show the signal. For a
    percentile, `bins` is the histogram of the latencies (`monitor.core.figures.latency`).
    """

    total: int = 0
    sum: float = 0.0
    squares: float = 0.0
    bins: tuple[int, ...] = ()

    @property
    def mean(self) -> float | None:
        """The rate or mean; None without items."""
        return self.sum / self.total if self.total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """The counts of one set of labels, one `Count` for each requested span, in order.

    For a signal of single answers, `answers` are the new ones, and the one count says how many there are. For a true
    rate, `labelled` is the newest one. For a probe, `probed` are its runs, and the one count is of the newest.
    """

    labels: Mapping[str, str]
    counts: tuple[Count, ...]
    answers: AnswerBatch | None = None
    labelled: LabelledRate | None = None
    probed: Probed | None = None


class Outcome(StrEnum):
    """What a method concludes from its counts."""

    BREACHING = "breaching"
    NORMAL = "normal"
    UNSURE = "unsure"  # too few answers, or not clearly good or bad: a firing alert goes on, a pending one ends
    NO_DATA = "no_data"  # nothing was counted for labels that had something before
    STALE = "stale"  # reading is behind, so answers may be missing: nothing changes
    ERROR = "error"  # the rule could not be evaluated


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The result of one evaluation of a rule for one set of labels.

    `value` is the rate, mean or state, None without samples; `lower` and `upper` bound it at `CONFIDENCE` (both equal
    `value` for a momentary state). `bound` is the threshold, in the same unit. `detail` adds in a few words what the
    figures do not say: the burn rates, the evidence. `as_of` is up to when there is evidence of a breach, None if that
    is now; `quiet_since` is set if nothing was counted, and says since when.
    """

    labels: Mapping[str, str]
    outcome: Outcome
    value: float | None
    samples: int
    lower: float
    upper: float
    bound: float
    detail: str | None = None
    as_of: datetime | None = None
    quiet_since: datetime | None = None


def gone_by(since: datetime, now: datetime) -> timedelta:
    """The time from `since` to `now`.

    A future `since` counts as long ago: the clock was set back. One that is less than `CLOCKS_APART` ahead counts as
    now: replicas take turns, and what one of them wrote with its clock is no news to another whose clock is behind.
    """
    if since <= now:
        return now - since
    return timedelta() if since - now < CLOCKS_APART else timedelta.max


def window_at(now: datetime, length: timedelta, lateness: timedelta) -> Span:
    """The last closed span of `length` at `now`: it ends with the last whole minute before `now - lateness`.

    With a `lateness` of zero it includes the running minute: the end is `now` rounded up.
    """
    at = now.astimezone(UTC) - lateness
    floor = at.replace(second=0, microsecond=0)
    end = floor + MINUTE if not lateness and floor != at else floor
    return Span(start=end - length, end=end)


def interval(count: Count, *, share: bool, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bounds of the rate (Wilson) or of the mean (normal, from the sum of squares) at `confidence`.

    (0, 1) for a rate without samples, and (-inf, inf) for a mean with fewer than two.
    """
    if share:
        return wilson(round(count.sum), count.total, confidence)
    if count.total < _FEWEST_FOR_SPREAD:
        return float("-inf"), float("inf")
    mean = count.sum / count.total
    variance = max(count.squares / count.total - mean * mean, 0.0) * count.total / (count.total - 1)
    margin = NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(variance / count.total)
    return mean - margin, mean + margin


def measured(signal: Signal, count: Count) -> float | None:
    """The signal's value over the count's span; None if nothing was counted."""
    if not count.total:
        return None
    if signal.percentile is not None:
        return percentile(count.bins, signal.percentile)
    return count.sum if signal.is_sum else count.mean


def bounds(signal: Signal, count: Count, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bounds of the signal's value: of a percentile by ranks, of a rate or mean by `interval`; a sum is exact."""
    if signal.percentile is not None:
        return percentile_interval(count.bins, signal.percentile, confidence)
    if signal.is_sum:
        return count.sum, count.sum
    return interval(count, share=signal.is_share, confidence=confidence)
