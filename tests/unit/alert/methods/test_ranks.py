"""The e-detector on ranks: by hand, and its promise by enumeration and by counting."""

from __future__ import annotations

from itertools import permutations, product
from math import log

import numpy as np
import pytest

from monitor.alert.answers import BINS
from monitor.alert.methods.ranks import (
    LIMITS,
    NOTHING,
    PAYOFFS,
    STAKES,
    empty_history,
    log_factors,
    log_statistic,
    rank,
    ranked,
    wealth_path,
)


def ranks_of(bins, *, units=None, weights=None, chances=0.5, history=None):
    bins = np.array(bins)
    units = np.arange(len(bins)) if units is None else np.array(units)
    weights = np.ones(len(bins)) if weights is None else np.array(weights)
    given = np.full(len(bins), chances) if np.isscalar(chances) else np.array(chances)
    return rank(empty_history() if history is None else history, bins, units, weights, given)


def test_each_answer_is_ranked_among_the_earlier_ones_and_itself():
    # 5; then 9 is the worst of two; 1 the best of three; the second 5 ties with the first: 9 is worse
    assert ranks_of([5, 9, 1, 5]) == pytest.approx([0.5, 0.25, 2.5 / 3, (1 + 0.5 * 2) / 4])


def test_ties_are_broken_by_chance_between_none_and_all_of_the_equal_ones():
    assert ranks_of([7, 7, 7, 7], chances=[0, 0, 0, 0]) == pytest.approx([0, 0, 0, 0])
    assert ranks_of([7, 7, 7, 7], chances=0.999) == pytest.approx([0.999] * 4)


def test_a_conversation_weighs_as_much_as_an_answer():
    history = empty_history()
    p = ranks_of([5, 9, 9], units=[0, 1, 1], weights=[1, 0.5, 0.5], history=history)
    assert p == pytest.approx([0.5, 0.25, 0.25])
    assert (history[5], history[9], history.sum()) == (1, 1, 2)


def test_answers_ranked_in_one_go_or_in_several_give_the_same():
    rng = np.random.default_rng(1)
    bins, chances = rng.integers(0, BINS, 700), rng.random(700)
    units = np.cumsum(rng.random(700) < 0.5)
    weights = 1 / np.bincount(units)[units]
    at_once = ranks_of(bins, units=units, weights=weights, chances=chances)
    history, found = empty_history(), []
    for cut in np.split(np.arange(700), np.flatnonzero(np.diff(units))[::37] + 1):
        of_cut = {"units": units[cut], "weights": weights[cut], "chances": chances[cut]}
        found += ranks_of(bins[cut], **of_cut, history=history).tolist()
    assert found == pytest.approx(at_once)


def test_the_payoffs_of_a_uniform_rank_are_one_on_average():
    assert np.diff(LIMITS, prepend=0.0) @ PAYOFFS == pytest.approx(1.0)


def test_worse_ranks_pay_more():
    units = np.arange(4)
    found = ranked(np.array([0.005, 0.05, 0.1, 0.9]), units, np.ones(4))
    assert found.payoffs == pytest.approx(PAYOFFS[[0, 2, 3, 6]])
    assert found.worst.tolist() == [1, 1, 1, 0]


def test_the_mean_payoff_over_all_orders_of_an_answers_bag_is_one_also_with_ties():
    """Exchangeable answers: every order of a bag is as likely, and the chances that break ties are spread evenly."""
    bag = [3, 3, 3, 8, 200]
    even = (np.arange(1_000) + 0.5) / 1_000
    last = [payoff for order in permutations(bag) for payoff in _payoffs_of_last(order, even)]
    assert np.mean(last) == pytest.approx(1.0, abs=0.005)


def _payoffs_of_last(order, chances):
    history = empty_history()
    ranks_of(order[:-1], history=history)
    return [
        ranked(
            rank(history.copy(), np.array(order[-1:]), np.array([0]), np.ones(1), np.array([u])),
            np.array([0]),
            np.ones(1),
        ).payoffs[0]
        for u in chances[::10]
    ]


def test_the_product_of_the_factors_is_one_on_average():
    """Exactly, over all cells that three independent uniform ranks can fall into."""
    cells = np.diff(LIMITS, prepend=0.0)
    total = np.zeros(len(STAKES))
    for three in product(range(len(cells)), repeat=3):
        total += np.prod(cells[list(three)]) * np.exp(log_factors(PAYOFFS[list(three)]).sum(axis=0))
    assert total == pytest.approx(np.ones(len(STAKES)))


def test_the_wealth_by_hand():
    factors = log_factors(np.array([3.0, 0.5]))
    e = np.exp(factors)
    path = np.exp(wealth_path(NOTHING, factors, 2.0))
    assert path[0] == pytest.approx(2.0 * e[0])
    assert path[1] == pytest.approx((2.0 * e[0] + 2.0) * e[1])
    assert np.exp(log_statistic(path_of_log(path)))[1] == pytest.approx(path[1].mean())
    assert wealth_path(np.log(path[0]), factors[1:], 2.0)[0] == pytest.approx(np.log(path[1]))


def path_of_log(path):
    return np.log(path)


def test_the_mean_wealth_is_the_elapsed_time_whatever_the_values_and_their_ties():
    """A thousand series of answers without a change; half of the values are equal."""
    rng = np.random.default_rng(3)
    series, length, minutes = 1_000, 60, 1.5
    final = np.empty(series)
    for i in range(series):
        bins = np.where(rng.random(length) < 0.5, 10, rng.integers(0, BINS, length))
        p = ranks_of(bins, chances=rng.random(length))
        units = np.arange(length)
        path = wealth_path(NOTHING, log_factors(ranked(p, units, np.ones(length)).payoffs), minutes)
        final[i] = np.exp(log_statistic(path)[-1])
    error = final.std() / np.sqrt(series)
    assert abs(final.mean() - length * minutes) < 4 * error
    assert error < 0.1 * length * minutes


def test_a_change_grows_the_wealth_and_no_change_does_not():
    rng = np.random.default_rng(4)
    before, after = rng.normal(0, 1, 2_000), rng.normal(0.7, 1, 300)
    bins = np.clip((np.concatenate([before, after]) + 6) / 12 * BINS, 0, BINS - 1).astype(int)
    p = ranks_of(bins, chances=rng.random(len(bins)))
    path = wealth_path(NOTHING, log_factors(ranked(p, np.arange(len(p)), np.ones(len(p))).payoffs), 0.6)
    statistic = log_statistic(path)
    assert statistic[:2_000].max() < log(100_800) < statistic[-1]
