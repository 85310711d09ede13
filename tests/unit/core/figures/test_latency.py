from __future__ import annotations

from itertools import pairwise
from math import ceil, inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.figures.latency import (
    LATENCY_BINS,
    RELATIVE_ERROR,
    bin_edges,
    latency_bin,
    percentile,
    percentile_interval,
)


def histogram(milliseconds):
    bins = [0] * LATENCY_BINS
    for value in milliseconds:
        bins[latency_bin(value)] += 1
    return bins


def test_the_bins_follow_each_other_from_nothing_to_without_end():
    edges = [bin_edges(place) for place in range(LATENCY_BINS)]
    assert (edges[0][0], edges[-1][1]) == (0.0, inf)
    assert all(one[1] == other[0] for one, other in pairwise(edges))
    assert edges[-1][0] > 50 * 60


@given(st.floats(0, 1e12))
def test_a_latency_is_in_its_bin(milliseconds):
    begins, ends = bin_edges(latency_bin(milliseconds))
    assert begins * 1000 * (1 - 1e-9) <= milliseconds <= ends * 1000 * (1 + 1e-9)


@given(st.lists(st.floats(1, 3e6), min_size=1, max_size=50), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_a_percentile_is_within_the_stated_error_of_the_true_one(milliseconds, share):
    true = sorted(milliseconds)[ceil(share * len(milliseconds)) - 1]
    assert percentile(histogram(milliseconds), share) == pytest.approx(true / 1000, rel=RELATIVE_ERROR + 1e-9)


def test_the_interval_holds_the_true_percentile_in_at_least_95_of_100_samples():
    rng = np.random.default_rng(18)
    true = float(np.exp(6.8 + 0.4 * 1.6448536)) / 1000  # the 95th percentile of the lognormal distribution below
    held = 0
    for _ in range(300):
        lower, upper = percentile_interval(histogram(rng.lognormal(6.8, 0.4, size=200)), 0.95)
        held += lower <= true <= upper
    assert held >= 0.95 * 300


def test_few_answers_bound_a_percentile_from_below_only():
    lower, upper = percentile_interval(histogram([100.0] * 20), 0.95)
    assert (lower, upper) == (pytest.approx(0.1, rel=0.1), inf)


def test_nothing_is_known_without_answers():
    assert percentile([], 0.5) is None
    assert percentile_interval([], 0.5) == (0.0, inf)
