from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.methods.wealth import CAP, NOTHING, ODDS, advance, log_statistic, settle

TARGETS = st.floats(0.001, 0.95)


@given(TARGETS, st.integers(0, 6), st.integers(0, 6), st.floats(0.1, 60))
def test_it_is_the_product_of_the_bets_stake_by_stake(p, bad, good, minutes):
    """Against the formula (M + w)·Π(1 + λ(x − p)), without logs."""
    q = ODDS * p / (1 - p + ODDS * p)
    stake = (q / p - 1) / (1 - p)
    expected = (5.0 + minutes) * (1 + stake * (1 - p)) ** bad * (1 - stake * p) ** good
    grown = advance(np.log(np.full(len(ODDS), 5.0)), bad, bad + good, minutes, p)
    assert np.exp(grown) == pytest.approx(expected if bad + good else np.full(len(ODDS), 5.0), rel=1e-9)
    assert (stake > 0).all()
    assert (stake < 1 / p).all()


@given(TARGETS)
def test_an_answer_at_the_target_leaves_the_mean_as_it_is(p):
    start = np.zeros(len(ODDS))
    after = [np.exp(advance(start, bad, 1, 2.0, p)) for bad in (1, 0)]
    assert p * after[0] + (1 - p) * after[1] == pytest.approx(np.full(len(ODDS), 3.0))


def test_batches_are_the_same_as_answers_one_by_one_but_for_the_time():
    one = advance(NOTHING, 1, 1, 1.0, 0.05)
    tiny = 1e-12
    assert advance(advance(one, 1, 1, tiny, 0.05), 0, 1, tiny, 0.05) == pytest.approx(advance(one, 1, 2, tiny, 0.05))


def test_series_go_side_by_side():
    wealth = np.broadcast_to(NOTHING, (3, 2, len(ODDS)))
    bad, total = np.array([[0, 1], [2, 3], [0, 0]]), np.array([[1, 1], [9, 3], [0, 4]])
    target = np.array([[0.1, 0.2]] * 3)
    together = advance(wealth, bad, total, 2.0, target)
    for i, j in np.ndindex(3, 2):
        assert together[i, j] == pytest.approx(advance(NOTHING, bad[i, j], total[i, j], 2.0, target[i, j]))
    assert log_statistic(together).shape == (3, 2)


def test_nothing_overflows():
    wealth = advance(NOTHING, 10**9, 10**9, 1.0, 0.001)
    kept, fires = settle(wealth, np.zeros((), bool), 1e5)
    assert fires
    assert log_statistic(kept) == pytest.approx(np.log(CAP * 1e5))


def test_it_fires_at_the_line_and_resolves_far_below():
    def with_mean(mean: float):
        return np.log(np.full(len(ODDS), mean))

    assert [bool(settle(with_mean(m), np.zeros((), bool), 1000.0)[1]) for m in (999.0, 1001.0)] == [False, True]
    assert [bool(settle(with_mean(m), np.ones((), bool), 1000.0)[1]) for m in (9.9, 10.1)] == [False, True]
    anew, _ = settle(with_mean(9.9), np.ones((), bool), 1000.0)
    assert np.isneginf(anew).all()


@pytest.mark.parametrize("answers", [1, 40])
def test_the_mean_time_to_a_false_alarm_keeps_its_promise(answers):
    """400 series at the target itself: one look a minute, one answer or forty in each, an alarm line of 500 minutes."""
    rng = np.random.default_rng(5)
    line, series, p = 500.0, 400, 0.1
    wealth = np.broadcast_to(NOTHING, (series, len(ODDS)))
    alarm_at = np.zeros(series)
    minute = 0
    while (alarm_at == 0).any():
        minute += 1
        wealth = advance(wealth, rng.binomial(answers, p, series), answers, 1.0, p)
        alarm_at = np.where((alarm_at == 0) & (log_statistic(wealth) >= np.log(line)), minute, alarm_at)
    error = alarm_at.std() / np.sqrt(series)
    assert line <= alarm_at.mean() + 2 * error
    assert alarm_at.mean() < 4 * line
