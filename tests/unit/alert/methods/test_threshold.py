from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.methods.method import WrongParameter
from monitor.alert.methods.threshold import Threshold
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Outcome, Span
from monitor.core.figures.proportions import wilson
from tests.factories.alert.counts import NEGATIVE, START, observe, share

LAG = Signal(kind=SignalKind.LAG)
SDA = Signal(kind=SignalKind.MEAN, name="sda")


def above(rate: float = 0.3, **given):
    return Threshold(above=Target(value=rate), **{"min_samples": 10, **given})


@pytest.mark.parametrize(
    ("bad", "outcome"),
    [(40, Outcome.BREACHING), (31, Outcome.BREACHING), (30, Outcome.NORMAL), (0, Outcome.NORMAL)],
)
def test_the_line_is_exceeded_not_met(bad, outcome):
    assert observe(above(), share(bad, 100)).outcome is outcome


def test_too_few_say_nothing_and_none_is_no_data():
    few, none = observe(above(), share(9, 9)), observe(above(), Count())
    assert (few.outcome, few.value, few.samples) == (Outcome.UNSURE, 1.0, 9)
    assert (none.outcome, none.value, none.lower, none.upper) == (Outcome.NO_DATA, None, 0.0, 1.0)


@pytest.mark.parametrize(
    ("bad", "outcome"),
    [(45, Outcome.BREACHING), (38, Outcome.UNSURE), (31, Outcome.UNSURE), (30, Outcome.NORMAL), (12, Outcome.NORMAL)],
)
def test_confident_takes_the_bound_to_fire_and_the_rate_to_resolve(bad, outcome):
    seen = observe(above(confident=True), share(bad, 100))
    assert seen.outcome is outcome
    assert (seen.lower, seen.upper, seen.bound) == (*wilson(bad, 100), 0.3)


def test_a_mean_can_be_too_low():
    low = Threshold(below=0.6, confident=True, min_samples=2)
    assert observe(low, Count(total=100, sum=50, squares=26), signal=SDA).outcome is Outcome.BREACHING
    # the mean is below, its interval is not
    assert observe(low, Count(total=4, sum=2.2, squares=1.5), signal=SDA).outcome is Outcome.UNSURE
    assert observe(low, Count(total=100, sum=60, squares=37), signal=SDA).outcome is Outcome.NORMAL


def test_a_state_of_now_is_one_sample_without_an_interval():
    behind = Threshold(above=Target(value=300.0))
    seen = observe(behind, Count(total=1, sum=420.0, squares=420.0**2), signal=LAG)
    assert (seen.outcome, seen.value, seen.lower, seen.upper) == (Outcome.BREACHING, 420.0, 420.0, 420.0)
    assert observe(behind, Count(total=1, sum=300.0, squares=300.0**2), signal=LAG).outcome is Outcome.NORMAL


def test_it_counts_the_window_that_is_closed():
    (span,) = above(window=timedelta(minutes=5)).spans(
        START + timedelta(seconds=200), lateness=timedelta(minutes=1), until=None
    )
    assert span == Span(start=START - timedelta(minutes=3), end=START + timedelta(minutes=2))


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "above"),
        ({"above": Target(value=0.1), "below": 0.2}, "above"),
        ({"above": Target(value=0.1), "window": timedelta(seconds=90)}, "window"),
        ({"above": Target(value=0.1), "min_samples": 0}, "min_samples"),
    ],
)
def test_wrong_parameters(given, field):
    with pytest.raises(WrongParameter) as error:
        Threshold(**given)
    assert error.value.field == field


@pytest.mark.parametrize(
    ("method", "signal", "field"),
    [
        (above(30.0), NEGATIVE, "above"),
        (Threshold(below=0.5), NEGATIVE, "below"),
        (Threshold(above=Target(margin=0.01)), LAG, "above"),
        (above(300.0, confident=True), LAG, "confident"),
    ],
)
def test_what_does_not_suit_the_signal(method, signal, field):
    with pytest.raises(WrongParameter) as error:
        method.check(signal)
    assert error.value.field == field


def test_what_suits():
    above().check(NEGATIVE)
    above(300.0).check(LAG)
    Threshold(above=Target(margin=0.01)).check(NEGATIVE)
    Threshold(below=0.5).check(SDA)
