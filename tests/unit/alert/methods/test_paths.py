"""The benchmark's vectorised paths against the methods themselves, observing minute by minute."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from benchmarks.alerts import paths
from monitor.alert.methods.absence import Absence
from monitor.alert.methods.burn_rate import BurnRate, BurnWindow
from monitor.alert.methods.change import Change
from monitor.alert.methods.sequential import Sequential
from monitor.alert.methods.threshold import Threshold
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import MINUTE, Outcome
from tests.factories.alert.counts import NEGATIVE, START, Rollup, Watch

LINE = Target(value=0.06)
MINUTES = 240
DECIDES = {Outcome.BREACHING: 1, Outcome.NORMAL: -1, Outcome.UNSURE: 0, Outcome.NO_DATA: 0}


@pytest.fixture(scope="module")
def traffic():
    """Two series of four hours with a bad one amid them, gaps, and three quieter weeks before."""
    rng = np.random.default_rng(11)
    total = rng.poisson(1.2, (2, MINUTES))
    total[:, 100:130] = 0
    rate = np.where((np.arange(MINUTES) >= 60) & (np.arange(MINUTES) < 170), 0.4, 0.05)
    past_total = [rng.poisson(1.2, (2, MINUTES)) for _ in range(3)]
    return rng.binomial(total, rate), total, [rng.binomial(n, 0.05) for n in past_total], past_total


def observed(method, traffic, series, signal=NEGATIVE):
    bad, total, past_bad, past_total = traffic
    rollup = Rollup()
    rollup.fill(START, bad[series], total[series])
    for week, (k, n) in enumerate(zip(past_bad, past_total, strict=True), start=1):
        rollup.fill(START - week * timedelta(days=7), k[series], n[series])
    watch = Watch(method, rollup, signal=signal)
    watch.until = START
    # a hair before the minute's end: the rollup holds the next minute already
    ends = (START + minute * MINUTE - timedelta(microseconds=1) for minute in range(1, MINUTES + 1))
    return [watch.look(end).outcome for end in ends]


METHODS = [
    (Threshold(above=LINE, min_samples=1), lambda m, t: paths.threshold(m, *t[:2])),
    (
        Threshold(above=LINE, min_samples=10, window=timedelta(minutes=30), confident=True),
        lambda m, t: paths.threshold(m, *t[:2]),
    ),
    (
        BurnRate(
            allowed=LINE,
            windows=(
                BurnWindow(long=timedelta(minutes=30), short=timedelta(minutes=3), factor=4),
                BurnWindow(long=timedelta(minutes=90), short=timedelta(minutes=10), factor=2),
            ),
            min_samples=20,
        ),
        lambda m, t: paths.burn_rate(m, *t[:2]),
    ),
    (Change(window=timedelta(minutes=30), weeks=3, min_samples=20), lambda m, t: paths.change(m, *t)),
]


@pytest.mark.parametrize(("method", "path"), METHODS, ids=["threshold", "confident", "burn_rate", "change"])
def test_a_path_is_the_method(method, path, traffic):
    outcomes = path(method, traffic)
    for series in range(2):
        seen = [DECIDES[outcome] for outcome in observed(method, traffic, series)]
        assert seen == outcomes[series].tolist()
        assert set(seen) == {-1, 0, 1}


def test_absence_is_the_method(traffic):
    method = Absence(window=timedelta(minutes=10), weeks=3, expected=7)
    outcomes = paths.absence(method, traffic[1], traffic[3])
    for series in range(2):
        seen = observed(method, traffic, series, Signal(kind=SignalKind.NO_DATA))
        assert [DECIDES[outcome] for outcome in seen] == outcomes[series].tolist()
        assert Outcome.BREACHING in seen


def test_sequential_is_the_method(traffic):
    method = Sequential(target=LINE, window=timedelta(minutes=MINUTES))
    fires = paths.sequential(method, *traffic[:2], np.array([0.06, 0.06]))
    for series in range(2):
        seen = observed(method, traffic, series)
        assert [outcome is Outcome.BREACHING for outcome in seen] == fires[series].tolist()
        assert {Outcome.BREACHING, Outcome.NORMAL} <= set(seen)


def test_firing_is_held_by_what_decides_nothing():
    outcomes = np.array([[0, 1, 0, 0, -1, 0, 1], [0, 0, -1, 1, 0, 1, 1]], dtype=np.int8)
    assert paths.firing(outcomes).astype(int).tolist() == [[0, 1, 1, 1, 0, 0, 1], [0, 0, 0, 1, 1, 1, 1]]
