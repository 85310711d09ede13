"""Latency, tokens and cost under the methods that take them."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from monitor.alert.methods.change import Change
from monitor.alert.methods.method import WrongParameter
from monitor.alert.methods.threshold import Threshold
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Outcome
from monitor.core.figures.latency import LATENCY_BINS, latency_bin
from tests.factories.alert.counts import START

P95 = Signal(kind=SignalKind.LATENCY, name="p95")
MEAN = Signal(kind=SignalKind.LATENCY, name="mean")
SPEND = Signal(kind=SignalKind.COST, name="spend")
ABOVE = Target(value=2.0)


def seconds(values):
    """The count of answers that took so many seconds."""
    bins = [0] * LATENCY_BINS
    for value in values:
        bins[latency_bin(1000 * value)] += 1
    found = [float(value) for value in values]
    return Count(total=len(found), sum=sum(found), squares=sum(v * v for v in found), bins=tuple(bins))


def drawn(number, middle, seed):
    return seconds(middle * np.random.default_rng(seed).lognormal(0, 0.4, size=number))


def observe(method, signal, *counts):
    bound = method.target.bound(None)
    seen, _ = method.observe(Counts(labels={}, counts=counts), signal=signal, bound=bound, memory=None, now=START)
    return seen


def spent(amount):
    return Count(total=5, sum=amount, squares=amount)


def test_a_percentile_is_held_against_the_line():
    slow, quick = seconds([1.0] * 90 + [5.0] * 10), seconds([1.0] * 96 + [5.0] * 4)
    assert observe(Threshold(above=ABOVE), P95, slow).outcome is Outcome.BREACHING
    seen = observe(Threshold(above=ABOVE), P95, quick)
    assert (seen.outcome, seen.value) == (Outcome.NORMAL, pytest.approx(1.0, rel=0.05))
    assert (seen.lower < 1.0, seen.upper > 5.0) == (True, True)


def test_confident_waits_until_chance_cannot_explain_the_percentile():
    method = Threshold(above=ABOVE, confident=True)
    assert observe(method, P95, seconds([1.0] * 94 + [5.0] * 6)).outcome is Outcome.UNSURE
    assert observe(method, P95, seconds([1.0] * 85 + [5.0] * 15)).outcome is Outcome.BREACHING


def test_the_mean_has_a_normal_interval():
    seen = observe(Threshold(above=ABOVE), MEAN, seconds([1.0, 3.0] * 50))
    assert (seen.value, seen.lower, seen.upper) == (2.0, pytest.approx(1.803, abs=2e-3), pytest.approx(2.197, abs=2e-3))


def test_a_sum_is_exact_and_needs_no_number_of_answers():
    seen = observe(Threshold(above=ABOVE), SPEND, spent(2.5))
    assert (seen.outcome, seen.value, seen.lower, seen.upper) == (Outcome.BREACHING, 2.5, 2.5, 2.5)
    with pytest.raises(WrongParameter, match="has no interval"):
        Threshold(above=ABOVE, confident=True).check(SPEND)


def test_no_baseline_is_learnt_for_an_amount():
    with pytest.raises(WrongParameter, match="set a number"):
        Threshold(above=Target()).check(P95)


@pytest.mark.parametrize("signal", [P95, MEAN])
def test_answers_that_take_longer_than_in_earlier_weeks_breach(signal):
    method, past = Change(at_least=0.2), [drawn(300, 1.0, seed) for seed in range(12)]
    method.check(signal)
    slower = observe(method, signal, drawn(300, 1.6, 20), *past)
    assert slower.outcome is Outcome.BREACHING
    assert slower.detail is not None
    assert "s at the same hours of earlier weeks; chance alone" in slower.detail
    usual = slower.bound / 1.2
    assert observe(method, signal, drawn(300, 1.0, 21), *past).outcome in (Outcome.NORMAL, Outcome.UNSURE)
    assert usual == pytest.approx(1.93 if signal is P95 else 1.08, rel=0.1)


def test_weeks_that_differ_by_themselves_ask_for_more():
    past = [drawn(300, middle, seed) for seed, middle in enumerate([0.5, 2.0, 0.7, 1.9] * 3)]
    assert observe(Change(at_least=0.2), MEAN, drawn(300, 1.8, 20), *past).outcome is Outcome.UNSURE


def test_a_sum_is_compared_with_the_sums_of_earlier_windows():
    method = Change(at_least=0.2, min_samples=1)
    past = [spent(amount) for amount in (10.0, 11.0, 9.0) * 4]
    assert observe(method, SPEND, spent(20.0), *past).outcome is Outcome.BREACHING
    assert observe(method, SPEND, spent(12.5), *past).outcome is Outcome.UNSURE
    assert observe(method, SPEND, spent(11.0), *past).outcome is Outcome.NORMAL


def test_chance_alone_rarely_shows_a_change_of_a_percentile():
    """Of 400 quiet looks at a level of 0.01, hardly more than 4 breach."""
    rng = np.random.default_rng(7)
    method = Change(at_least=0.05, alpha=0.01)
    looks = (observe(method, P95, *(seconds(rng.lognormal(0, 0.4, size=150)) for _ in range(13))) for _ in range(400))
    assert sum(seen.outcome is Outcome.BREACHING for seen in looks) <= 9


@pytest.mark.parametrize(("signal", "at_least"), [(P95, 0.02), (SPEND, 0.0)])
def test_the_smallest_rise_of_an_amount_has_to_be_set(signal, at_least):
    with pytest.raises(WrongParameter, match=r"0\.2 is a fifth more"):
        Change(at_least=at_least).check(signal)


def test_without_weeks_to_compare_with_nothing_is_known():
    seen = observe(Change(at_least=0.2), P95, drawn(300, 1.0, 1), *[Count()] * 12)
    assert (seen.outcome, seen.bound) == (Outcome.UNSURE, 0.0)
    assert seen.upper < inf
