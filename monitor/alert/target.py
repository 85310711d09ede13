"""The target of a rule: a fixed number, the learnt baseline plus a margin, or the higher of both."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import isfinite, sqrt
from statistics import NormalDist

from monitor.alert.window import Count
from monitor.core.figures.proportions import CONFIDENCE, wilson
from monitor.core.model import Json

LEARNT_OVER = timedelta(days=28)
LEAST_HOURS = 24  # with fewer hours of answers, or with fewer answers, nothing is learnt
LEAST_SAMPLES = 200
LOWEST, HIGHEST = 0.001, 0.999  # limits of a learnt line: a past without bad answers does not promise a future without
_BASELINE = re.compile(r"baseline(?:\s*([+-])\s*([0-9]{1,2}(?:\.[0-9]{1,4})?)\s*pp)?")
_HIGHER = re.compile(r"max\(\s*([0-9]*\.?[0-9]+)\s*,\s*(baseline[^,()]*)\)")
_FORMS = "write a number, baseline + 1pp, or max(0.30, baseline + 15pp)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The usual rate over `hours` hours with answers, and its interval at `CONFIDENCE`."""

    rate: float
    lower: float
    upper: float
    samples: int
    hours: int
    learnt_at: datetime

    def to_json(self) -> dict[str, Json]:
        """The stored form, which `from_json` reads."""
        return {
            "rate": self.rate,
            "lower": self.lower,
            "upper": self.upper,
            "samples": self.samples,
            "hours": self.hours,
            "learnt_at": self.learnt_at.isoformat(),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Baseline:
        """Reads what `to_json` returns.

        Raises:
            ValueError: `stored` is not a baseline.
        """
        try:
            return cls(
                rate=float(str(stored["rate"])),
                lower=float(str(stored["lower"])),
                upper=float(str(stored["upper"])),
                samples=int(str(stored["samples"])),
                hours=int(str(stored["hours"])),
                learnt_at=datetime.fromisoformat(str(stored["learnt_at"])),
            )
        except KeyError as missing:
            raise ValueError(f"the baseline lacks {missing}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class HourSums:
    """Sums for learning a baseline over the hours with answers; an hour has n answers, whose values sum to k."""

    labels: Mapping[str, str]
    hours: int
    total: int  # Σn
    sum: float  # Σk
    sum_squares: float  # Σk²
    products: float  # Σkn
    total_squares: float  # Σn²

    @classmethod
    def of(cls, labels: Mapping[str, str], counts: Iterable[Count]) -> HourSums:
        """Adds up the counts of single hours."""
        hours = [count for count in counts if count.total]
        return cls(
            labels=labels,
            hours=len(hours),
            total=sum(count.total for count in hours),
            sum=float(sum(count.sum for count in hours)),
            sum_squares=float(sum(count.sum**2 for count in hours)),
            products=float(sum(count.sum * count.total for count in hours)),
            total_squares=float(sum(count.total**2 for count in hours)),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A fixed `value`, or if that is None, the baseline's upper bound plus `margin` (a share: 0.01 is 1 pp).

    A learnt target is never below `least`.
    """

    value: float | None = None
    margin: float = 0.0
    least: float = LOWEST

    @property
    def is_learnt(self) -> bool:
        """Whether the target needs a baseline."""
        return self.value is None

    def bound(self, baseline: Baseline | None) -> float | None:
        """The number to compare with; None if the target needs a baseline and there is none yet."""
        if self.value is not None:
            return self.value
        if baseline is None:
            return None
        return min(max(baseline.upper + self.margin, self.least), HIGHEST)

    @property
    def basis(self) -> str:
        """In words, what the line rests on."""
        if self.value is not None:
            return "a fixed line"
        return (
            f"a line learnt from the last {LEARNT_OVER.days // 7} weeks ({self}), held until {LEAST_HOURS} hours with "
            f"answers and {LEAST_SAMPLES} answers are known; it rests on the upper end of a 95 % interval, so that one "
            "baseline in 40 is below the true level"
        )

    def __str__(self) -> str:
        """The target as a rule writes it: `0.06`, `baseline`, `baseline + 1pp`, `max(0.3, baseline + 15pp)`."""
        if self.value is not None:
            return f"{self.value:g}"
        sign = "+" if self.margin > 0 else "-"
        learnt = "baseline" + (f" {sign} {abs(self.margin) * 100:g}pp" if self.margin else "")
        return learnt if self.least == LOWEST else f"max({self.least:g}, {learnt})"


def parse_target(text: str | float) -> Target:
    """Reads a target: a number, `baseline`, `baseline + 1pp` (percentage points), or `max(0.30, baseline + 15pp)`.

    Raises:
        ValueError: `text` is none of them.
    """
    if isinstance(text, str):
        higher = _HIGHER.fullmatch(text.strip())
        match = _BASELINE.fullmatch((higher[2] if higher else text).strip())
        least = float(higher[1]) if higher else LOWEST
        if match is None or not LOWEST <= least < 1:
            raise ValueError(f"{text!r} is not a target: {_FORMS}")
        sign, points = match.groups()
        return Target(margin=float(f"{sign}{points}") / 100 if sign else 0.0, least=least)
    if isinstance(text, bool) or not isfinite(text):
        raise ValueError(f"{text!r} is not a target: {_FORMS}")
    return Target(value=float(text))


def learn(sums: HourSums, now: datetime) -> Baseline | None:
    """The usual rate from the sums over the hours up to `now`; None with too few hours or answers.

    The rate is the ratio r = Σk/Σn over the hours with answers. Hours differ by more than chance, so each side of the
    interval is the wider one of Wilson's and r ± z·√v with the ratio estimator's variance between m hours,
    v = m/(m − 1) · Σ(kᵢ − r·nᵢ)² / (Σn)². Source: W. G. Cochran, Sampling Techniques, 3rd edition, 1977, §6.3. Hours
    count as independent: a bad spell of many hours makes the interval too narrow.
    """
    if sums.hours < LEAST_HOURS or sums.total < LEAST_SAMPLES:
        return None
    rate = sums.sum / sums.total
    # Σ(k − r·n)² multiplied out; rounding may take it just below 0
    residual = max(sums.sum_squares - 2 * rate * sums.products + rate**2 * sums.total_squares, 0.0)
    spread = sqrt(sums.hours / (sums.hours - 1) * residual) / sums.total
    margin = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * spread
    lower, upper = wilson(round(sums.sum), sums.total)
    return Baseline(
        rate=rate,
        lower=max(min(lower, rate - margin), 0.0),
        upper=min(max(upper, rate + margin), 1.0),
        samples=sums.total,
        hours=sums.hours,
        learnt_at=now,
    )
