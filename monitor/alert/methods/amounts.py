"""Compares a window's latency, tokens or cost with those of past windows; `change.py` says which."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, stdev

from monitor.alert.methods.proportion_change import Comparison, compare, student_tail
from monitor.alert.signal import Signal
from monitor.alert.window import Count, measured
from monitor.core.figures.latency import percentile_bin, slower


def compare_amounts(signal: Signal, current: Count, past: Sequence[Count]) -> Comparison | None:
    """Like `compare`, with the rise as a part of the usual amount: 0.2 is a fifth more.

    `current` has answers, and so do at least two counts of `past`. None if the usual amount is zero.
    """
    counts = [count for count in past if count.total]
    if signal.is_sum:
        return _sums(current, past)
    if signal.percentile is not None:
        return _percentiles(signal, current, counts)
    return _means(current, counts)


def _means(current: Count, past: Sequence[Count]) -> Comparison | None:
    """Student's test of the mean of the window against the mean of m past ones, as far as windows vary by themselves.

    The variance of an answer is the larger one of two estimates: of single answers around the mean of their window,
    and v = Σ nᵢ·(x̄ᵢ − x̄)² / (m − 1) of the past windows' means around the mean of all. Then t = (ȳ − x̄) / √(v·(1/n +
    1/N)) has m − 1 degrees of freedom. Source: G. W. Snedecor and W. G. Cochran, Statistical Methods, 8th edition,
    1989, §12.
    """
    total = sum(count.total for count in past)
    usual = sum(count.sum for count in past) / total
    if usual <= 0:
        return None
    freedom = len(past) - 1
    within = sum(max(count.squares - count.sum**2 / count.total, 0.0) for count in (*past, current))
    single = within / max(total + current.total - len(past) - 1, 1)
    between = sum((count.sum - usual * count.total) ** 2 / count.total for count in past) / freedom
    mean = current.sum / current.total
    error = sqrt(max(single, between) * (1 / current.total + 1 / total))
    return Comparison(usual, mean / usual - 1, _tail(mean - usual, error, freedom))


def _percentiles(signal: Signal, current: Count, past: Sequence[Count]) -> Comparison | None:
    """Whether more answers are slower than the usual percentile than before: the test of shares, `compare`."""
    whole = Count(
        total=sum(count.total for count in past),
        bins=tuple(map(sum, zip(*(count.bins for count in past), strict=True))),
    )
    usual, now = measured(signal, whole), measured(signal, current)
    if not usual or now is None or signal.percentile is None:
        return None
    place = percentile_bin(whole.bins, signal.percentile)
    beyond = [_beyond(count, place) for count in (current, *past)]
    return Comparison(usual, now / usual - 1, compare(beyond[0], beyond[1:]).chance)


def _beyond(count: Count, place: int) -> Count:
    """How many answers are slower than the bin."""
    number = slower(count.bins, place)
    return Count(total=count.total, sum=number, squares=number)


def _sums(current: Count, past: Sequence[Count]) -> Comparison | None:
    """Whether the window's sum lies above what m past sums let expect of another one: x̄ + t·s·√(1 + 1/m).

    Source: G. J. Hahn and W. Q. Meeker, Statistical Intervals, 1991, §4.7.
    """
    sums = [count.sum for count in past]
    usual = fmean(sums)
    if usual <= 0:
        return None
    error = stdev(sums) * sqrt(1 + 1 / len(sums))
    return Comparison(usual, current.sum / usual - 1, _tail(current.sum - usual, error, len(sums) - 1))


def _tail(rise: float, error: float, freedom: int) -> float:
    """The chance of such a rise or a larger one; without any variation a rise is no chance."""
    if error == 0:
        return 0.0 if rise > 0 else 0.5
    return student_tail(rise / error, freedom)
