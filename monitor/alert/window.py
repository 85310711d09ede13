"""Which minutes a rule looks at, what was counted in them, and how sure the rate is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import sqrt
from statistics import NormalDist

CONFIDENCE = 0.95
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCount:
    """Answers with these labels in a window: `matching` of `total` show the signal."""

    labels: Mapping[str, str]
    matching: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a method makes of a count. `breaching` None: too few samples to say, so the alert stays as it is.

    `value` is the rate, None without any sample; `lower` and `upper` bound it at `CONFIDENCE`.
    """

    labels: Mapping[str, str]
    breaching: bool | None
    value: float | None
    samples: int
    lower: float
    upper: float


def minutes(window: timedelta, now: datetime) -> tuple[datetime, datetime]:
    """The span [start, end) of whole minutes, in UTC, that a rule with `window` looks at.

    The rollup counts by the minute, so `end` is `now` rounded up: the unfinished minute is in it up to now.
    """
    now = now.astimezone(UTC)
    floor = now.replace(second=0, microsecond=0)
    end = floor if floor == now else floor + _MINUTE
    return end - window, end


def wilson(matching: int, total: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Score interval of the rate k/n at `confidence`: (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n), p = k/n.

    (0, 1) without any sample. Source: E. B. Wilson, Probable inference, the law of succession, and statistical
    inference, Journal of the American Statistical Association 22 (1927), 209–212.
    """
    if total == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate = matching / total
    centre = rate + z * z / (2 * total)
    margin = z * sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    # at 0 and n the bound is exact; rounding would leave it a hair beside
    lower = 0.0 if matching == 0 else (centre - margin) / scale
    upper = 1.0 if matching == total else (centre + margin) / scale
    return lower, upper
