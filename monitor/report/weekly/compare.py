"""Compares shares: their intervals, their difference and how sure it is, as JSON objects.

Shares keep six decimals and p values three significant digits, so that the same rows give the same bytes.
"""

from __future__ import annotations

from math import sqrt

from monitor.core.model import Json
from monitor.core.proportions import Share, greater, wilson

CLEAR = 0.05  # a difference with a lower p value is clear
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


def changed(now: Share, before: Share) -> dict[str, Json] | None:
    """`{difference, lower, upper, p, clear}` of two independent shares, now minus before; None if one has no total.

    The interval is Newcombe's at 95 %, from the two Wilson intervals: d − √((p₁ − l₁)² + (u₂ − p₂)²) and
    d + √((u₁ − p₁)² + (p₂ − l₂)²). Source: R. G. Newcombe, Interval estimation for the difference between independent
    proportions, Statistics in Medicine 17 (1998), 873–890, method 10.
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
    }


def two_sided(one: Share, other: Share) -> float:
    """Two-sided p value of the difference: twice the smaller of Fisher's one-sided p values, at most 1."""
    return min(1.0, 2 * min(greater(one, other), greater(other, one)))


def rounded(value: float | None) -> float | None:
    """Rounded to six decimals; never a negative zero, which JSON distinguishes from zero."""
    return None if value is None else round(value, _DECIMALS) + 0.0


def significant(value: float) -> float:
    return float(f"{value:.3g}")
