"""A histogram of latencies, from which any percentile comes with a known error.

The bins grow by a constant factor, so that the middle of a bin is at most `RELATIVE_ERROR` from every latency in it.
Source: C. Masson, J. E. Rim and H. K. Lee, DDSketch, PVLDB 12(12), 2019, §2.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, log, sqrt
from statistics import NormalDist

from monitor.core.figures.proportions import CONFIDENCE

RELATIVE_ERROR = 0.05
LATENCY_BINS = 152  # the first: below 1 ms; the last: from 55 minutes on
_GROWTH = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_LOG_GROWTH = log(_GROWTH)


def latency_bin(milliseconds: float) -> int:
    """The bin that counts a latency."""
    if milliseconds < 1:
        return 0
    return min(int(log(milliseconds) / _LOG_GROWTH) + 1, LATENCY_BINS - 1)


def bin_edges(place: int) -> tuple[float, float]:
    """Where a bin begins and ends, in seconds."""
    begins = 0.0 if place == 0 else _GROWTH ** (place - 1) / 1000
    return begins, inf if place == LATENCY_BINS - 1 else _GROWTH**place / 1000


def percentile(bins: Sequence[int], share: float) -> float | None:
    """The latency, in seconds, that a `share` of the answers does not exceed; None without answers.

    Its error is at most `RELATIVE_ERROR` between 1 ms and 55 minutes.
    """
    if not sum(bins):
        return None
    begins, ends = bin_edges(percentile_bin(bins, share))
    return begins if ends == inf else 2 * begins * ends / (begins + ends)


def percentile_interval(bins: Sequence[int], share: float, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bounds of the percentile at `confidence`, in seconds; they hold for any distribution. (0, inf) without answers.

    The number of answers below the true percentile is binomial: it lies in n·p ± z·√(n·p·(1 − p)), and so the
    percentile lies between the answers of these ranks. Each bound is the outer edge of its bin. Source: W. J. Conover,
    Practical Nonparametric Statistics, 3rd edition, 1999, §3.2.
    """
    total = sum(bins)
    if not total:
        return 0.0, inf
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    spread = z * sqrt(total * share * (1 - share))
    low, high = ceil(total * share - spread), ceil(total * share + spread)
    lower = bin_edges(_place(bins, low))[0] if low >= 1 else 0.0
    return lower, bin_edges(_place(bins, high))[1] if high <= total else inf


def slower(bins: Sequence[int], place: int) -> int:
    """How many answers are in the bins after `place`."""
    return sum(bins[place + 1 :])


def percentile_bin(bins: Sequence[int], share: float) -> int:
    """The bin that holds the percentile; there is at least one answer."""
    return _place(bins, max(ceil(share * sum(bins)), 1))


def _place(bins: Sequence[int], rank: int) -> int:
    """The bin of the answer of that rank, from 1 for the fastest to the number of answers."""
    for place, number in enumerate(bins):
        rank -= number
        if rank <= 0:
            return place
    raise ValueError("there are fewer answers")
