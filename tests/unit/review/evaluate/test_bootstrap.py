from __future__ import annotations

import numpy as np
import pytest

from monitor.review.evaluate import bootstrap
from monitor.review.evaluate.bootstrap import bootstrap_over_groups
from monitor.review.evaluate.statistics import ratio

RNG_SEED = 1


def mean_of(values):
    return lambda weights: ratio(weights @ values, weights.sum(axis=1))[:, None]


def interval_of(values, groups, draws=4_000):
    (found,) = bootstrap_over_groups(mean_of(values), groups, draws, np.random.default_rng(RNG_SEED))
    return found


def test_of_independent_rows_it_is_the_interval_of_a_mean():
    values = np.random.default_rng(0).normal(size=400)
    low, high = interval_of(values, np.arange(400))
    error = values.std() / 20
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.15 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.15 * error)


def test_rows_of_one_group_are_no_independent_evidence():
    of_groups = np.random.default_rng(0).normal(size=40)
    values, groups = np.repeat(of_groups, 10), np.repeat(np.arange(40), 10)
    together, alone = interval_of(values, groups), interval_of(values, np.arange(400))
    assert together.high - together.low == pytest.approx(np.sqrt(10) * (alone.high - alone.low), rel=0.15)
    once = interval_of(of_groups, np.arange(40))
    assert tuple(together) == pytest.approx(tuple(once))


def test_the_same_seed_gives_the_same_interval_whatever_fits_in_memory(monkeypatch):
    values, groups = np.arange(30.0), np.arange(30) // 3
    whole = interval_of(values, groups)
    monkeypatch.setattr(bootstrap, "_AT_ONCE", 30 * 7)
    assert interval_of(values, groups) == whole


def test_there_is_none_for_one_group_nor_for_what_is_seldom_defined():
    assert interval_of(np.arange(5.0), np.zeros(5)) is None
    assert interval_of(np.zeros(0), np.zeros(0)) is None

    def of_the_last_row(weights):
        return np.where(weights[:, -1:] > 0, 1.0, np.nan)

    rng = np.random.default_rng(RNG_SEED)
    assert bootstrap_over_groups(of_the_last_row, np.arange(50), 500, rng) == [None]  # in 1 - 1/e of the draws
