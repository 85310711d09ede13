"""Compares shares: their intervals, their difference and how sure it is, as JSON objects.

Shares keep six decimals and p values three significant digits, so that the same rows give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Any

from monitor.core.figures.proportions import Share, two_sided, wilson
from monitor.core.model import Json

CLEAR = 0.05  # a difference with a lower p value is clear
WORSE, BETTER, UNCLEAR = "worse", "better", "no clear change"
HIGHER, LOWER = "higher", "lower"  # of shares of which neither is better
OPPOSITE = {WORSE: BETTER, BETTER: WORSE, HIGHER: LOWER}
_AS_FULL = 0.8
_DECIMALS = 6


def share(matching: int, total: int) -> dict[str, Json]:
    """`{count, of, share, lower, upper}` with Wilson's interval at 95 %; the last three are null if `total` is 0."""
    lower, upper = wilson(matching, total) if total else (None, None)
    return {
        "count": matching,
        "of": total,
        "share": rounded(matching / total) if total else None,
        "lower": rounded(lower),
        "upper": rounded(upper),
    }


def changed(now: Share, before: Share, *, more: str = WORSE) -> dict[str, Json] | None:
    """`{difference, lower, upper, p, clear, verdict}` of two independent shares, now minus before.

    None if one has no total. `verdict` is what every page, message and list says of the change: `more` if the share
    clearly rose, its opposite if it clearly fell, else UNCLEAR. The interval is Newcombe's at 95 %, from the two Wilson
    intervals: d − √((p₁ − l₁)² + (u₂ − p₂)²) and d + √((u₁ − p₁)² + (p₂ − l₂)²). Source: R. G. Newcombe, Interval
    estimation for the difference between independent proportions, Statistics in Medicine 17 (1998), 873–890, method 10.
    """
    if not now.total or not before.total:
        return None
    (l1, u1), (l2, u2) = wilson(now.matching, now.total), wilson(before.matching, before.total)
    p1, p2 = now.rate, before.rate
    p = two_sided(now, before)
    return {
        "difference": rounded(p1 - p2),
        "lower": rounded(p1 - p2 - sqrt((p1 - l1) ** 2 + (u2 - p2) ** 2)),
        "upper": rounded(p1 - p2 + sqrt((u1 - p1) ** 2 + (p2 - l2) ** 2)),
        "p": significant(p),
        "clear": p < CLEAR,
        "verdict": judged(now, before, p, more=more),
    }


def judged(now: Share, before: Share, p: float, *, more: str = WORSE) -> str:
    """What is said of a change with that p value."""
    if p >= CLEAR:
        return UNCLEAR
    return more if now.rate > before.rate else OPPOSITE[more]


def change_verdict(change: Mapping[str, Any] | None) -> str | None:
    """The stored verdict of a change of negatives; reports of earlier releases have only `clear`."""
    if change is None:
        return None
    earlier = UNCLEAR if not change["clear"] else WORSE if change["difference"] > 0 else BETTER
    return str(change.get("verdict", earlier))


def as_full(bins: int, bins_before: int) -> bool:
    """Whether two spans with answers in so many of their days or hours can be compared.

    The first days of an app, or a week that is not over, hold other days and hours than a whole span.
    """
    return min(bins, bins_before) >= _AS_FULL * max(bins, bins_before)


def rounded(value: float | None) -> float | None:
    """Rounded to six decimals; never a negative zero, which JSON distinguishes from zero."""
    return None if value is None else round(value, _DECIMALS) + 0.0


def significant(value: float) -> float:
    return float(f"{value:.3g}")
