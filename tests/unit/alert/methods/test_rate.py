from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.labelled import LabelledRate
from monitor.alert.methods.rate import Rate
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import Count, Counts, Outcome
from tests.factories.alert.counts import START

SIGNAL = Signal(kind=SignalKind.TRUE_RATE, name="self_generated")
METHOD = Rate(above=0.05)


def labelled(estimate, lower, upper, *, days_ago=1):
    until = START - timedelta(days=days_ago)
    return LabelledRate(
        app="shop",
        plan="7",
        since=until - timedelta(days=7),
        until=until,
        labels=100,
        estimate=estimate,
        lower=lower,
        upper=upper,
    )


def observe(rate):
    counts = Counts(labels={"app": "shop"}, counts=(Count(total=100),), labelled=rate)
    seen, memory = METHOD.observe(counts, signal=SIGNAL, bound=0.05, memory=None, now=START)
    assert memory is None
    return seen


@pytest.mark.parametrize(
    ("rate", "outcome"),
    [
        ((0.09, 0.06, 0.14), Outcome.BREACHING),
        ((0.09, 0.05, 0.14), Outcome.UNSURE),  # the true rate may be at the line
        ((0.05, 0.02, 0.09), Outcome.NORMAL),
        ((0.01, 0.00, 0.04), Outcome.NORMAL),
    ],
)
def test_the_lower_limit_fires_and_the_estimate_resolves(rate, outcome):
    seen = observe(labelled(*rate))
    assert (seen.outcome, seen.value, seen.lower, seen.upper) == (outcome, *rate)
    assert (seen.samples, seen.bound) == (100, 0.05)
    assert seen.detail == "100 answers of 2026-02-22 to 2026-03-01, by plan 7"


def test_a_period_that_is_too_old_says_nothing_any_more():
    assert observe(labelled(0.5, 0.4, 0.6, days_ago=34)).outcome is Outcome.BREACHING
    seen = observe(labelled(0.5, 0.4, 0.6, days_ago=36))
    assert (seen.outcome, seen.value, seen.detail) == (
        Outcome.NORMAL,
        None,
        "no period that ended in the last 5 weeks has labels",
    )


def test_without_labels_there_is_no_number():
    seen = observe(None)
    assert (seen.outcome, seen.value, seen.samples) == (Outcome.NO_DATA, None, 0)
