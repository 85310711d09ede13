"""Tails and dispersion against tables and figures worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from monitor.report.findings.evidence import dispersion, information, t_tail

OF_TABLES = ((12.706, 1), (4.303, 2), (2.776, 4), (2.571, 5), (2.064, 24), (2.052, 27))  # of .025


@pytest.mark.parametrize(("t", "freedom"), OF_TABLES)
def test_the_tail_of_t_as_in_tables(t, freedom):
    assert t_tail(t, freedom) == pytest.approx(0.025, rel=0.01)
    assert t_tail(-t, freedom) == pytest.approx(1 - t_tail(t, freedom))
    assert t_tail(0.0, freedom) == 0.5


def test_the_information_of_a_share():
    got = information(np.array([1.0, 0.5, 0.1, 0.0]), np.array([0.25, 0.25, 0.25, 0.25]))
    assert got.tolist() == pytest.approx([log(4), 0.5 * log(2) + 0.5 * log(2 / 3), 0.0, 0.0])


def test_days_that_vary_no_more_than_chance_have_no_dispersion():
    n = np.full(4, 100.0)
    assert dispersion(n, np.array([50.0, 50, 50, 50]), 1) == (1.0, 3)
    # each day is off by 20 of a standard deviation of 5: X² = 4 · 16, over 3
    assert dispersion(n, np.array([30.0, 70, 30, 70]), 1) == (pytest.approx(64 / 3), 3)
    assert dispersion(np.array([5.0]), np.array([1.0]), 1) == (1.0, 1)


def test_a_group_at_nothing_or_everything_adds_freedom_and_leaves_the_dispersion_of_the_others():
    n, days = np.full(4, 100.0), np.array([30.0, 70, 30, 70])
    assert dispersion(n, n, 1) == (1.0, 3)
    every = dispersion(np.tile(n, 3), np.concatenate((np.zeros(4), n, days)), 3)
    assert every == (pytest.approx(64 / 3), 9)
    empty_days = np.array([100.0, 100, 0, 0])
    assert dispersion(empty_days, np.array([30.0, 70, 0, 0]), 1) == (pytest.approx(32.0), 1)
