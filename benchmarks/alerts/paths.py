"""The alert methods over many weeks at once, evaluated at the end of each minute.

`tests/unit/alert/methods/test_paths.py` holds every path against the real method, minute by minute. Arrays have shape
(series, minutes); the answers and bad answers of each minute come in, outcomes or firing states go out. As in a rule
whose `for` is 0, an alert fires from a breaching minute to a normal one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monitor.alert.methods.absence import BEFORE, Absence
from monitor.alert.methods.burn_rate import BurnRate
from monitor.alert.methods.change import LEAST_WEEKS, Change
from monitor.alert.methods.proportion_change import student_tail
from monitor.alert.methods.sequential import LONGEST_WAIT, Sequential
from monitor.alert.methods.threshold import Threshold
from monitor.alert.methods.wealth import NOTHING, advance, settle
from monitor.alert.window import MINUTE
from monitor.core.figures.proportions import CONFIDENCE

Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Outcomes: TypeAlias = NDArray[np.int8]

BREACHING, UNDECIDED, NORMAL = np.int8(1), np.int8(0), np.int8(-1)
WEEK = 7 * 24 * 60


def rolling(counts: Ints, window: timedelta, *, ends: int = 0) -> Ints:
    """The sum over the window that ends `ends` minutes after each minute's end; values outside the array count as 0."""
    length = window // MINUTE
    sums = np.concatenate([np.zeros_like(counts[:, :1]), counts.cumsum(axis=1)], axis=1)
    end = np.arange(1, counts.shape[1] + 1) + ends
    last = counts.shape[1]
    return sums[:, np.clip(end, 0, last)] - sums[:, np.clip(end - length, 0, last)]


def firing(outcomes: Outcomes) -> Bools:
    """Whether the alert fires at each minute: the last outcome that decides."""
    at = np.where(outcomes != UNDECIDED, np.arange(outcomes.shape[1]), 0)
    return np.take_along_axis(outcomes, np.maximum.accumulate(at, axis=1), axis=1) == BREACHING


def threshold(method: Threshold, bad: Ints, total: Ints) -> Outcomes:
    return over_line(method, rolling(bad, method.window), rolling(total, method.window))


def over_line(method: Threshold, k: Ints, n: Ints) -> Outcomes:
    """`threshold` on the window's counts. Wilson's lower bound exceeds p if p̂ − p > z·√(p(1 − p)/n)."""
    line = method.target.value or 0.0
    excess = k - line * n
    margin = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * np.sqrt(line * (1 - line) * n) if method.confident else 0.0
    outcomes = np.where(excess <= 0, NORMAL, np.where(excess > margin, BREACHING, UNDECIDED))
    return np.where(n >= method.min_samples, outcomes, UNDECIDED)


def burn_rate(method: BurnRate, bad: Ints, total: Ints) -> Outcomes:
    shape = bad.shape
    breaching, unsure, normal = np.zeros(shape, bool), np.zeros(shape, bool), np.zeros(shape, bool)
    for pair in method.pairs:
        line = pair.factor * (method.allowed.value or 0.0)
        k, n = rolling(bad, pair.long), rolling(total, pair.long)
        short_k, short_n = rolling(bad, pair.short), rolling(total, pair.short)
        exceeds, voice = k > line * n, n >= method.min_samples
        breaching |= voice & exceeds & (short_k > line * short_n)
        unsure |= voice & exceeds & (short_n == 0)
        normal |= voice & ~(exceeds & ((short_n == 0) | (short_k > line * short_n)))
    return np.where(breaching, BREACHING, np.where(normal & ~unsure, NORMAL, UNDECIDED))


def sequential(method: Sequential, bad: Ints, total: Ints, target: ArrayLike) -> Bools:
    """Whether the alert fires; `target` is one value for all series or one for each."""
    series, minutes = bad.shape
    wealth = np.broadcast_to(NOTHING, (series, len(NOTHING)))
    now = np.zeros(series, bool)
    waited = np.zeros(series)
    fires = np.zeros((minutes, series), bool)
    for minute, (k, n) in enumerate(zip(np.ascontiguousarray(bad.T), np.ascontiguousarray(total.T), strict=True)):
        waited = np.minimum(waited + 1, LONGEST_WAIT / MINUTE)
        wealth, now = settle(advance(wealth, k, n, waited, target), now, method.line)
        waited[n > 0] = 0
        fires[minute] = now
    return fires.T


def weeks_back(counts: Ints, weeks: int) -> list[Ints]:
    """The same minutes of each of the previous weeks; 0 before the first."""
    padded = np.concatenate([np.zeros((len(counts), weeks * WEEK), counts.dtype), counts], axis=1)
    minutes = counts.shape[1]
    return [padded[:, (weeks - week) * WEEK :][:, :minutes] for week in range(1, weeks + 1)]


def change(method: Change, bad: Ints, total: Ints, past_bad: Sequence[Ints], past_total: Sequence[Ints]) -> Outcomes:
    """`past_bad` and `past_total` are the previous weeks, each as long as this one."""
    length = method.window // MINUTE
    k, n = rolling(bad, method.window), rolling(total, method.window)
    kept_k, kept_n = [], []
    weeks = np.zeros(bad.shape, np.int64)
    for week_bad, week_total in zip(past_bad, past_total, strict=True):
        around_k = [rolling(week_bad, method.window, ends=i * length) for i in (-1, 0, 1)]
        around_n = [rolling(week_total, method.window, ends=i * length) for i in (-1, 0, 1)]
        enough = sum(around_n) >= method.min_samples
        weeks += enough
        kept_k += [np.where(enough, count, 0) for count in around_k]
        kept_n += [np.where(enough, count, 0) for count in around_n]
    decides = (n >= method.min_samples) & (weeks >= LEAST_WEEKS)
    with np.errstate(divide="ignore", invalid="ignore"):
        all_n = sum(kept_n)
        usual = sum(kept_k) / all_n
        rise = k / n - usual
        pooled = (sum(kept_k) + k) / (all_n + n)
        squares = sum(np.where(m > 0, (c - usual * m) ** 2 / m, 0.0) for c, m in zip(kept_k, kept_n, strict=True))
        freedom = sum((m > 0).astype(np.int64) for m in kept_n) - 1
        spread = usual * (1 - usual)
        overdispersion = np.where(spread > 0, np.maximum(1.0, squares / spread / freedom), 1.0)
        t = rise / np.sqrt(overdispersion * pooled * (1 - pooled) * (1 / n + 1 / all_n))
    critical = np.array([np.inf, *(_critical(method.alpha, f) for f in range(1, len(kept_n) + 1))])
    breaching = t > critical[np.clip(freedom, 0, len(kept_n))]
    small = (rise < method.at_least) | (rise <= 0)
    return np.where(decides, np.where(small, NORMAL, np.where(breaching, BREACHING, UNDECIDED)), UNDECIDED)


def absence(method: Absence, total: Ints, past_total: Sequence[Ints]) -> Outcomes:
    """`past_total` holds the previous weeks, each as long as this one."""
    length = method.window // MINUTE
    came = rolling(total, method.window)
    before = rolling(total, BEFORE, ends=-length)
    in_window = sum(rolling(week, method.window) for week in past_total)
    in_hours = sum(rolling(week, BEFORE, ends=-length) for week in past_total)
    expected = np.minimum(in_window / len(past_total), before * in_window / np.maximum(in_hours, 1))
    missing = (expected >= method.expected) & (np.exp(-expected) < method.alpha)
    return np.where(came > 0, NORMAL, np.where(missing, BREACHING, UNDECIDED))


@cache
def _critical(alpha: float, freedom: int) -> float:
    """The t that Student's distribution exceeds with probability `alpha`, by bisection."""
    low, high = 0.0, 1e6
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, freedom) >= alpha else (low, middle)
    return high
